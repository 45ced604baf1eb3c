"""Label aggregators: several people's answers on each task in, one answer a task and each person's reliability out.

All have the shape of the crowd libraries:

    from crowdclust_app.inference.binary import DawidSkene
    result = DawidSkene().fit(table)        # columns task, worker, label
    result.labels_, result.probabilities_, result.accuracy_
"""

from __future__ import annotations

from crowdclust_app.inference.binary.base import Aggregator
from crowdclust_app.inference.binary.bp import BeliefPropagation, MaxProduct, TwoCoinBeliefPropagation
from crowdclust_app.inference.binary.confusion import (
    DawidSkene,
    DawidSkeneMAP,
    TwoCoinApproximateMeanField,
    TwoCoinEM,
    TwoCoinMeanField,
)
from crowdclust_app.inference.binary.continuous import Continuous
from crowdclust_app.inference.binary.gibbs import Gibbs
from crowdclust_app.inference.binary.kos import KOS, NormalisedKOS
from crowdclust_app.inference.binary.onecoin import EM, ApproximateMeanField, MeanField
from crowdclust_app.inference.binary.ordinal import Ordinal
from crowdclust_app.inference.binary.registry import METHODS, method_named
from crowdclust_app.inference.binary.running import FitStep, NotConvergedWarning
from crowdclust_app.inference.binary.sbic import FastSBIC, OnlineSBIC, SortedSBIC
from crowdclust_app.inference.binary.table import LabelTable, encode_labels
from crowdclust_app.inference.binary.te import TriangularEstimation
from crowdclust_app.inference.binary.voting import Majority, SoftVote

__all__ = [
    "EM",
    "KOS",
    "METHODS",
    "Aggregator",
    "ApproximateMeanField",
    "BeliefPropagation",
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
    "NotConvergedWarning",
    "OnlineSBIC",
    "Ordinal",
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
