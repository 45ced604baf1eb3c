"""The phases of one start: layer by layer, mixture, jointly (docs/model.md, section 7)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.inference.crowdclustering.kernels.arrays import Ints
from crowdclust_app.inference.crowdclustering.model.blocks import VariationalPosterior
from crowdclust_app.inference.crowdclustering.model.bound import lower_bound, prior_terms
from crowdclust_app.inference.crowdclustering.model.component_search import grow, grow_to, revise
from crowdclust_app.inference.crowdclustering.model.data import PairLabelData
from crowdclust_app.inference.crowdclustering.model.initialisation import start_positions
from crowdclust_app.inference.crowdclustering.model.mixture import (
    Mixture,
    position_prior,
    update_held_mixture,
    update_mixture,
)
from crowdclust_app.inference.crowdclustering.model.parallel import Parallel
from crowdclust_app.inference.crowdclustering.model.settings import ResolvedSettings
from crowdclust_app.inference.crowdclustering.selection.prediction import cluster_shapes

HELD_OUT = "heldout"
LAYERS = "layers"
MIXTURE = "mixture"
JOINT = "joint"

# The number of components is revised after 5, 10, 20, ... joint iterations: positions follow a change of it within a
# few rounds, and late in a fit little is left to change.
FIRST_REVISION = 5
# The joint phase is run a second time from so many more components than the first found with the positions fixed: too
# many disappear again, too few cannot always be mended once the positions have followed them.
SECOND_SHARE = 1.5
SECOND_EXTRA = 2
# The second run is given up if its bound is behind the first run's after so many joint iterations.
COMPARE_AFTER = 30
# With a number of clusters a later start is given up if it is behind the first by more than such a part of its bound
# after so many iterations: items stay in their clusters, so a start that is clearly behind stays behind.
COMPARE_STARTS_AFTER = 10
CLEARLY_BEHIND = 1e-3
# With a number of clusters the prior scale of the components is at most this share of the variance that the clusters
# have at the start: positions that know their cluster draw together, and with a scale of their own width or more,
# small clusters disappear.
SCALE_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How far a fit has come.

    Parameters
    ----------
    start, starts
        Which start is running, counting from 1, and how many there are; with "heldout", which fit to all but some
        responses, and how many of them there may be.
    phase
        "folds", "candidates" and "probabilities" of the search for clusters, or "heldout" where the bound says how many
        there are; then "layers", "mixture", "joint".
    iteration
        Rounds done in this phase; during the search `start` of `starts` steps are done.
    bound
        The bound `F` in nats; comparable within a phase only, and 0 during the search.
    clusters
        Clusters now; 0 while there are none.
    seconds
        Since the fit began.
    """

    start: int
    starts: int
    phase: str
    iteration: int
    bound: float
    clusters: int
    seconds: float


@dataclass(slots=True)
class Reporter:
    """Keeps the trace of one start, reports its progress, and polls the cancel token.

    Parameters
    ----------
    start, starts, began, progress, cancel
        Of the fit; `began` is a `time.perf_counter`.
    trace
        Phase and bound of every round.
    told_phase
        The phase that every round is reported as, where it is not its own.
    parallel
        Threads of the fit, which may have a cancel token of their own.
    """

    start: int
    starts: int
    began: float
    progress: Callable[[Snapshot], None] | None
    cancel: CancelToken | None
    trace: list[tuple[str, float]] = field(default_factory=list)
    told_phase: str = ""
    parallel: Parallel = field(default_factory=Parallel)

    def report(self, phase: str, iteration: int, bound: float, clusters: int) -> None:
        """Note the lower bound of one round; raises `Cancelled` when the fit was cancelled."""
        self.trace.append((phase, bound))
        if self.progress is not None:
            seconds = time.perf_counter() - self.began
            told = self.told_phase or phase
            self.progress(Snapshot(self.start, self.starts, told, iteration, bound, clusters, seconds))
        self.check()

    def check(self) -> None:
        """Raise `Cancelled` when the fit was cancelled."""
        self.parallel.check()
        if self.cancel is not None:
            self.cancel.check()


@dataclass(slots=True)
class StartResult:
    """Where one start ended.

    Parameters
    ----------
    layered, grown
        Positions and workers after the layers, and the mixture grown on them.
    posterior, mixture
        The variational posterior at the end.
    bound
        `F` of the joint phase at the end, in nats.
    iterations
        Joint iterations done.
    converged
        Whether the bound came to rest before the iterations ran out.
    unchanged
        In how many of the last joint iterations no item changed its cluster.
    trace
        `(phase, bound)` of every round.
    """

    layered: VariationalPosterior
    grown: Mixture
    posterior: VariationalPosterior
    mixture: Mixture
    bound: float
    iterations: int
    converged: bool
    unchanged: int
    trace: tuple[tuple[str, float], ...]

    @property
    def joint_bounds(self) -> list[float]:
        """Bounds of the joint iterations."""
        return [bound for phase, bound in self.trace if phase == JOINT]


def run_start(
    labels: PairLabelData,
    settings: ResolvedSettings,
    reporter: Reporter,
    incumbent_bounds: Sequence[float] = (),
    partition: Ints | None = None,
) -> StartResult:
    """Run all phases from one start.

    With a partition of the `n` items the mixture has one component a cluster, and the first start ties the scale `J0`
    to them; it is in the settings of the outcome, and the other starts keep it, so that their bounds compare.
    `incumbent_bounds` are the bounds of the joint iterations of the best start so far.
    """
    positions = start_positions(labels, settings.dimensions, reporter.start - 1, settings.seed)
    layered = VariationalPosterior.at_positions(labels, settings, positions, reporter.parallel)
    run_layers(layered, reporter)
    if partition is not None:
        return finish(layered, hold_partition(layered, partition, reporter), reporter, incumbent_bounds)
    first = finish(layered, run_mixture(layered, reporter), reporter)
    return retry_with_more_components(first, reporter)


def one_start(
    labels: PairLabelData,
    settings: ResolvedSettings,
    start: int,
    began: float,
    incumbent_bounds: Sequence[float] = (),
    partition: Ints | None = None,
    *,
    progress: Callable[[Snapshot], None] | None,
    parallel: Parallel,
) -> StartResult:
    """`run_start` as a task for `Parallel.each`."""
    reporter = Reporter(start, settings.n_starts, began, progress, None, parallel=parallel)
    return run_start(labels, settings, reporter, incumbent_bounds, partition)


def retry_with_more_components(first: StartResult, reporter: Reporter) -> StartResult:
    """Run the joint phase once more from more components; return the better of the two."""
    layered = first.layered
    size = max(first.grown.size + SECOND_EXTRA, math.ceil(SECOND_SHARE * first.grown.size))
    mean, variance, settings = layered.mean, layered.variance, layered.settings
    more, bound = grow_to(size, first.grown, -np.inf, mean, variance, settings, reporter.check)
    if more.size == first.grown.size:
        return first
    # layers are the same for both runs, so their trace is kept
    reporter.trace = [entry for entry in first.trace if entry[0] == LAYERS]
    reporter.report(MIXTURE, 1, lower_bound(layered.sum_labels(), prior_terms(layered, bound)), more.size)
    second = finish(layered, more, reporter, first.joint_bounds)
    return second if second.bound > first.bound else first


def finish(
    layered: VariationalPosterior, grown: Mixture, reporter: Reporter, incumbent_bounds: Sequence[float] = ()
) -> StartResult:
    """Run the joint phase from what the layers and the growth found, neither of which is changed."""
    posterior = layered.copy()
    mixture, bound, iterations, converged, unchanged = run_joint(posterior, grown, reporter, incumbent_bounds)
    trace = tuple(reporter.trace)
    return StartResult(layered, grown, posterior, mixture, bound, iterations, converged, unchanged, trace)


def run_layers(posterior: VariationalPosterior, reporter: Reporter) -> None:
    """Positions with the prior `N(0, s_x)`, weights, biases, in turn."""
    settings = posterior.settings
    n, D = posterior.mean.shape
    precision = np.repeat(np.eye(D)[None] / settings.position_variance, n, axis=0)
    shift = np.zeros((n, D))
    for iteration in range(1, settings.layer_rounds + 1):
        posterior.update_items(precision, shift)
        # the sums over the labels that the new weights are made of also give the bound of the workers before: one
        # pass serves both, but the workers' divergence has to be taken before they change
        prior = prior_terms(posterior)
        sums = posterior.update_weights()
        bound = lower_bound(sums, prior)
        posterior.update_biases(sums)
        posterior.learn_prior()
        reporter.report(LAYERS, iteration, bound, 0)


def run_mixture(posterior: VariationalPosterior, reporter: Reporter) -> Mixture:
    """Grow the mixture with everything else fixed."""
    # positions and workers stay, so the sums over the labels do too
    sums = posterior.sum_labels()
    kept = 0

    def watch(mixture: Mixture, bound: float) -> None:
        nonlocal kept
        kept += 1
        reporter.report(MIXTURE, kept, lower_bound(sums, prior_terms(posterior, bound)), mixture.size)

    return grow(posterior.mean, posterior.variance, posterior.settings, watch, reporter.check)[0]


def hold_partition(posterior: VariationalPosterior, partition: Ints, reporter: Reporter) -> Mixture:
    """Begin the mixture from a partition (docs/model.md, section 9.2), one component a cluster.

    The items stay in them: positions and workers are fitted to these clusters. Left to the mixture, positions lie so
    wide at first, and follow single misplaced labels so far later, that clusters run into each other.
    """
    mean, variance = posterior.mean, posterior.variance
    if reporter.start == 1:
        within = float(np.mean(np.diagonal(cluster_shapes(mean, variance, partition)[1], axis1=1, axis2=2)))
        posterior.settings = replace(posterior.settings, scale=min(posterior.settings.scale, SCALE_SHARE * within))
    reporter.check()
    memberships = np.eye(int(partition.max()) + 1)[partition]
    mixture, mixture_bound = update_held_mixture(memberships, mean, variance, posterior.settings)
    bound = lower_bound(posterior.sum_labels(), prior_terms(posterior, mixture_bound))
    reporter.report(MIXTURE, 1, bound, mixture.size)
    return mixture


def run_joint(
    posterior: VariationalPosterior, mixture: Mixture, reporter: Reporter, incumbent_bounds: Sequence[float] = ()
) -> tuple[Mixture, float, int, bool, int]:
    """Items, mixture, workers, biases in turn, until the bound comes to rest or the iterations run out.

    A fit that is behind the incumbent is given up before.

    Returns
    -------
    mixture : Mixture
    bound : float
        `F` with everything up to date, in nats.
    iterations : int
    converged : bool
        Whether the iterations sufficed.
    unchanged : int
        In how many of the last iterations no item changed its component.
    """
    settings = posterior.settings
    held = isinstance(settings.n_clusters, int)
    update = update_held_mixture if held else update_mixture
    bound_before = -np.inf
    converged = False
    iteration = unchanged = 0
    revision = FIRST_REVISION
    while iteration < settings.max_iterations and not converged:
        iteration += 1
        components = first_of_component(mixture)
        posterior.update_items(*position_prior(mixture))
        mixture, mixture_bound = update(mixture.memberships, posterior.mean, posterior.variance, settings)
        # as in the layers, the bound of the workers before comes from the sums that make the new ones
        prior = prior_terms(posterior, mixture_bound)
        sums = posterior.update_weights()
        bound = lower_bound(sums, prior)
        posterior.update_biases(sums)
        posterior.learn_prior()
        reporter.report(JOINT, iteration, bound, mixture.size)
        unchanged = unchanged + 1 if np.array_equal(components, first_of_component(mixture)) else 0
        converged = abs(bound - bound_before) <= settings.tolerance * abs(bound)
        bound_before = bound
        if is_behind(bound, iteration, incumbent_bounds, held):
            break
        # a bound at rest calls for a last revision: the fit has converged only if that changes nothing
        if settings.n_clusters == "bound" and (converged or iteration == revision):
            revision = max(revision, 2 * iteration)
            revised = revise(mixture, mixture_bound, posterior.mean, posterior.variance, settings, reporter.check)
            converged = converged and revised is mixture
            mixture = revised
    # the last biases, prior and revisions are not in the bound yet
    mixture, mixture_bound = update(mixture.memberships, posterior.mean, posterior.variance, settings)
    bound = lower_bound(posterior.sum_labels(), prior_terms(posterior, mixture_bound))
    return mixture, bound, iteration, converged, unchanged


def is_behind(bound: float, iteration: int, incumbent_bounds: Sequence[float], held: bool) -> bool:
    """Whether a fit is to be given up because it is behind the incumbent at the iteration of their comparison."""
    compare_after, margin = (COMPARE_STARTS_AFTER, CLEARLY_BEHIND) if held else (COMPARE_AFTER, 0.0)
    if iteration != compare_after or len(incumbent_bounds) < compare_after:
        return False
    incumbent = incumbent_bounds[compare_after - 1]
    return bound < incumbent - margin * abs(incumbent)


def first_of_component(mixture: Mixture) -> Ints:
    """The first item of each item's likeliest component, which does not depend on the order of components; (n,)."""
    _, first, number = np.unique(np.argmax(mixture.memberships, axis=1), return_index=True, return_inverse=True)
    return np.asarray(first[number], dtype=np.int64)
