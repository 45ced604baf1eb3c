"""Label aggregators: several people's answers on each task in, one answer a task and each person's reliability out.

All have the shape of the crowd libraries:

    from crowdclust_app.inference.aggregators import DawidSkene
    result = DawidSkene().fit(table)        # columns task, worker, label
    result.labels_, result.probabilities_, result.accuracy_
"""

from __future__ import annotations

from crowdclust_app.inference.aggregators.base import Aggregator
from crowdclust_app.inference.aggregators.belief_propagation import (
    BeliefPropagation,
    MaxProduct,
    TwoCoinBeliefPropagation,
)
from crowdclust_app.inference.aggregators.community_bcc import CommunityBCC
from crowdclust_app.inference.aggregators.confusion_matrices import (
    DawidSkene,
    DawidSkeneMAP,
    TwoCoinApproximateMeanField,
    TwoCoinEM,
    TwoCoinMeanField,
)
from crowdclust_app.inference.aggregators.continuous import Continuous
from crowdclust_app.inference.aggregators.ebcc import EBCC
from crowdclust_app.inference.aggregators.gibbs import Gibbs
from crowdclust_app.inference.aggregators.glad import GLAD
from crowdclust_app.inference.aggregators.iterations import FitStep
from crowdclust_app.inference.aggregators.kos import KOS, NormalisedKOS
from crowdclust_app.inference.aggregators.label_table import LabelTable, encode_labels
from crowdclust_app.inference.aggregators.one_coin import EM, ApproximateMeanField, MeanField
from crowdclust_app.inference.aggregators.ordinal import Ordinal
from crowdclust_app.inference.aggregators.registry import method_named
from crowdclust_app.inference.aggregators.sbic import FastSBIC, SharedSortedSBIC, SortedSBIC
from crowdclust_app.inference.aggregators.sbic_online import OnlineSBIC, OnlineSortedSBIC
from crowdclust_app.inference.aggregators.triangular_estimation import OverlapTriangularEstimation, TriangularEstimation
from crowdclust_app.inference.aggregators.voting import Majority, SoftVote

__all__ = [
    "EBCC",
    "EM",
    "GLAD",
    "KOS",
    "Aggregator",
    "ApproximateMeanField",
    "BeliefPropagation",
    "CommunityBCC",
    "Continuous",
    "DawidSkene",
    "DawidSkeneMAP",
    "FastSBIC",
    "FitStep",
    "Gibbs",
    "LabelTable",
    "Majority",
    "MaxProduct",
    "MeanField",
    "NormalisedKOS",
    "OnlineSBIC",
    "OnlineSortedSBIC",
    "Ordinal",
    "OverlapTriangularEstimation",
    "SharedSortedSBIC",
    "SoftVote",
    "SortedSBIC",
    "TriangularEstimation",
    "TwoCoinApproximateMeanField",
    "TwoCoinBeliefPropagation",
    "TwoCoinEM",
    "TwoCoinMeanField",
    "encode_labels",
    "method_named",
]
