"""How many components: growth by splits, merging of pairs, dropping of empty ones (docs/model.md, section 6).

Every change is a proposal, tried with the positions fixed and kept only when the mixture's terms of the lower bound
rise. Coordinate ascent alone seldom changes the number: from one component to two it would have to pass lower bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats
from crowdclust_app.inference.crowdclustering.model.mixture import Mixture, update_mixture
from crowdclust_app.inference.crowdclustering.model.settings import ResolvedSettings

Check = Callable[[], None]

# Components that are tried for a split, heaviest first, and pairs that are tried for a merge, closest first.
SPLITS = 20
MERGES = 5
# Rounds of a mixture of the two halves of a component, over its own items alone.
LOCAL_ROUNDS = 30
# An item belongs to a component that is being split if it does so with this probability.
OWN = 0.1
# Rounds of a proposal before its bound is compared, and the most of the one that is kept: a good proposal shows in a
# few rounds, and most are dropped.
PROPOSAL_ROUNDS = 5
MAX_ROUNDS = 50
TOLERANCE = 1e-6
# A change has to raise the bound by this much, in nats: less is rounding, and could go back and forth for ever.
LEAST_GAIN = 1e-6
# A bound that is lower by less than this part of itself has not fallen.
ROUNDING = 1e-11
# A component with less than this many items is empty.
EMPTY = 0.5


def settle(
    memberships: Floats, mean: Floats, variance: Floats, settings: ResolvedSettings, rounds: int = MAX_ROUNDS
) -> tuple[Mixture, float]:
    """Update the mixture until its bound comes to rest."""
    mixture, bound = update_mixture(memberships, mean, variance, settings)
    for _ in range(rounds - 1):
        before = bound
        mixture, bound = update_mixture(mixture.memberships, mean, variance, settings)
        if bound - before <= TOLERANCE * abs(bound):
            break
    return mixture, bound


def split_memberships(
    mixture: Mixture, component: int, mean: Floats, variance: Floats, settings: ResolvedSettings
) -> Floats | None:
    """`q` with one component in two; None when there is nothing to gain from that.

    The component's own items are cut across its principal direction and fitted by a mixture of their own. Only if
    that is better than one component for them is the split tried on all items, which costs far more.
    """
    q = mixture.memberships[:, component]
    own = np.flatnonzero(q >= OWN)
    if len(own) < 2:
        return None
    own_mean, own_variance = mean[own], variance[own]
    # weighted by `q`, so that items at the rim that belong elsewhere do not turn the direction
    apart = own_mean - mixture.means[component]
    direction = np.linalg.eigh((apart * q[own, None]).T @ apart)[1][:, -1]
    along = own_mean @ direction
    above = along > np.average(along, weights=q[own])
    if above.all() or not above.any():
        return None
    cut = np.column_stack([above, ~above]).astype(np.float64)
    local, bound = settle(cut, own_mean, own_variance, settings, LOCAL_ROUNDS)
    halves = np.full((len(mean), 2), 0.5)
    halves[own] = local.memberships
    if settings.n_clusters == "bound":
        if bound <= update_mixture(np.ones((len(own), 1)), own_mean, own_variance, settings)[1]:
            return None
    elif local.memberships.sum(axis=0).min() < EMPTY:
        # so many components are asked for: a split that ran together again is made all the same
        halves[own] = cut
    return np.column_stack([np.delete(mixture.memberships, component, axis=1), q[:, None] * halves])


def best_split(
    mixture: Mixture, mean: Floats, variance: Floats, settings: ResolvedSettings, check: Check
) -> tuple[Mixture, float] | None:
    """The best of the splits of the heaviest components, settled; None when there is nothing to split."""
    best: tuple[Mixture, float] | None = None
    for component in range(min(mixture.size, SPLITS)):
        check()
        memberships = split_memberships(mixture, component, mean, variance, settings)
        if memberships is None:
            continue
        proposal = settle(memberships, mean, variance, settings, PROPOSAL_ROUNDS)
        if best is None or proposal[1] > best[1]:
            best = proposal
    if best is None:
        return None
    settled = settle(best[0].memberships, mean, variance, settings)
    # one more empty component always raises the bound a little, and growth would not end
    if settings.n_clusters == "bound" and occupied(settled[0]) <= occupied(mixture):
        return None
    return settled


def occupied(mixture: Mixture) -> int:
    """Number of components that have items."""
    return int((mixture.memberships.sum(axis=0) >= EMPTY).sum())


def grow(
    mean: Floats, variance: Floats, settings: ResolvedSettings, watch: Callable[[Mixture, float], None], check: Check
) -> tuple[Mixture, float]:
    """Grow a mixture from one component by splits, positions fixed.

    Parameters
    ----------
    mean, variance : ndarray of shape (n, D)
        Positions.
    settings
        The priors; with a number of clusters, that many components whatever the bound says.
    watch
        Is called with every mixture that is kept, and its bound, which does not fall; may raise to stop.
    check
        Is called before every proposal; may raise to stop.
    """
    mixture, bound = settle(np.ones((len(mean), 1)), mean, variance, settings)
    if not isinstance(settings.n_clusters, int):
        watch(mixture, bound)
        while (proposal := best_split(mixture, mean, variance, settings, check)) is not None:
            if proposal[1] <= bound + LEAST_GAIN:
                break
            mixture, bound = proposal
            watch(mixture, bound)
        return mixture, bound
    mixture, bound = grow_to(settings.n_clusters, mixture, bound, mean, variance, settings, check)
    watch(mixture, bound)
    return mixture, bound


def grow_to(
    size: int, mixture: Mixture, bound: float, mean: Floats, variance: Floats, settings: ResolvedSettings, check: Check
) -> tuple[Mixture, float]:
    """Split until there are so many components, whatever the bound says, or nothing is left to split."""
    # with a number in the settings a split need not pay
    forced = replace(settings, n_clusters=size)
    while mixture.size < size:
        proposal = best_split(mixture, mean, variance, forced, check)
        if proposal is None:
            break
        mixture, bound = proposal
    return mixture, bound


def closest_pairs(mixture: Mixture) -> list[tuple[int, int]]:
    """The `MERGES` pairs of components whose means are closest for their widths (Mahalanobis distance)."""
    covariances = mixture.scatters / mixture.freedoms[:, None, None]
    pairs = []
    for k in range(mixture.size):
        for other in range(k + 1, mixture.size):
            apart = mixture.means[k] - mixture.means[other]
            between = 0.5 * (covariances[k] + covariances[other])
            pairs.append((float(apart @ np.linalg.solve(between, apart)), k, other))
    return [(k, other) for _, k, other in sorted(pairs)[:MERGES]]


def simplify(
    mixture: Mixture, bound: float, mean: Floats, variance: Floats, settings: ResolvedSettings, check: Check
) -> tuple[Mixture, float]:
    """Drop empty components and merge pairs as long as the bound rises, positions fixed."""
    mixture, bound = drop_empty(mixture, bound, mean, variance, settings)
    while mixture.size > 1:
        for k, other in closest_pairs(mixture):
            check()
            merged = mixture.memberships.copy()
            merged[:, k] += merged[:, other]
            memberships = np.delete(merged, other, axis=1)
            tried, reached = settle(memberships, mean, variance, settings, PROPOSAL_ROUNDS)
            if reached > bound + LEAST_GAIN:
                mixture, bound = drop_empty(tried, reached, mean, variance, settings)
                break
        else:
            break
    return mixture, bound


def drop_empty(
    mixture: Mixture, bound: float, mean: Floats, variance: Floats, settings: ResolvedSettings
) -> tuple[Mixture, float]:
    """Leave out components without items as long as that does not lower the bound."""
    while True:
        full = mixture.memberships.sum(axis=0) >= EMPTY
        if full.all() or not full.any():
            return mixture, bound
        kept = mixture.memberships[:, full]
        # an item that was in the dropped components alone is shared by all others until `q` is updated
        rest = kept.sum(axis=1, keepdims=True)
        kept = np.where(rest > 0.0, kept / np.where(rest > 0.0, rest, 1.0), 1.0 / kept.shape[1])
        tried, reached = settle(kept, mean, variance, settings, PROPOSAL_ROUNDS)
        # empty components cost nothing, so without them the bound is the same but for rounding
        if reached < bound - ROUNDING * abs(bound):
            return mixture, bound
        mixture, bound = tried, reached


def revise(
    mixture: Mixture, bound: float, mean: Floats, variance: Floats, settings: ResolvedSettings, check: Check
) -> Mixture:
    """Try whether fewer or more components are better, positions fixed.

    Returns
    -------
    Mixture
        The same object when nothing is; otherwise one whose bound is not lower.
    """
    mixture, bound = simplify(mixture, bound, mean, variance, settings, check)
    while True:
        proposal = best_split(mixture, mean, variance, settings, check)
        if proposal is None or proposal[1] <= bound + LEAST_GAIN:
            return mixture
        mixture, bound = proposal
