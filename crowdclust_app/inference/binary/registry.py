"""Every aggregator by the name that the command line uses."""

from __future__ import annotations

from crowdclust_app.domain.errors import UserError
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
from crowdclust_app.inference.binary.sbic import FastSBIC, SortedSBIC
from crowdclust_app.inference.binary.table import encode_labels
from crowdclust_app.inference.binary.te import TriangularEstimation
from crowdclust_app.inference.binary.voting import Majority, SoftVote

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
    UserError
        When there is none of that name.
    """
    if name not in METHODS:
        raise UserError(f"there is no method {name}", todo=f"take one of {', '.join(METHODS)}")
    return METHODS[name]


def warm_up(name: str) -> None:
    """Have an aggregator's kernels compiled, which must not count as its time."""
    tiny = encode_labels([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 0])
    method_named(name)(max_iterations=1).fit_encoded(tiny)
