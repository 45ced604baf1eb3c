"""Every aggregator by the name that the command line uses."""

from __future__ import annotations

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.base import Aggregator
from crowdclust_app.inference.aggregators.belief_propagation import (
    BeliefPropagation,
    MaxProduct,
    TwoCoinBeliefPropagation,
)
from crowdclust_app.inference.aggregators.confusion_matrices import (
    DawidSkene,
    DawidSkeneMAP,
    TwoCoinApproximateMeanField,
    TwoCoinEM,
    TwoCoinMeanField,
)
from crowdclust_app.inference.aggregators.continuous import Continuous
from crowdclust_app.inference.aggregators.gibbs import Gibbs
from crowdclust_app.inference.aggregators.kos import KOS, NormalisedKOS
from crowdclust_app.inference.aggregators.label_table import encode_labels
from crowdclust_app.inference.aggregators.one_coin import EM, ApproximateMeanField, MeanField
from crowdclust_app.inference.aggregators.ordinal import Ordinal
from crowdclust_app.inference.aggregators.sbic import FastSBIC, SortedSBIC
from crowdclust_app.inference.aggregators.triangular_estimation import TriangularEstimation
from crowdclust_app.inference.aggregators.voting import Majority, SoftVote

_ALL: tuple[type[Aggregator], ...] = (
    Majority,
    SoftVote,
    EM,
    ApproximateMeanField,
    MeanField,
    BeliefPropagation,
    MaxProduct,
    KOS,
    NormalisedKOS,
    TwoCoinEM,
    TwoCoinApproximateMeanField,
    TwoCoinMeanField,
    TwoCoinBeliefPropagation,
    FastSBIC,
    SortedSBIC,
    Gibbs,
    TriangularEstimation,
    DawidSkene,
    DawidSkeneMAP,
    Ordinal,
    Continuous,
)
METHODS: dict[str, type[Aggregator]] = {method.name: method for method in _ALL}


def method_named(name: str) -> type[Aggregator]:
    """Find an aggregator.

    Raises
    ------
    InvalidInputError
        When there is none of that name.
    """
    if name not in METHODS:
        raise InvalidInputError(f"there is no method {name}", todo=f"take one of {', '.join(METHODS)}")
    return METHODS[name]


def warm_up(name: str) -> None:
    """Have an aggregator's kernels compiled, which must not count as its time."""
    tiny = encode_labels([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 0])
    method_named(name)(max_iterations=1).fit_encoded(tiny)
