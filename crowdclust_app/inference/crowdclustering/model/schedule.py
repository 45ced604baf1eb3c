"""The phases of one start: layer by layer, mixture, jointly (docs/model.md, section 7)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.model.blocks import VariationalPosterior
from crowdclust_app.inference.crowdclustering.model.bound import layer_divergence, position_entropy, worker_divergence
from crowdclust_app.inference.crowdclustering.model.component_search import grow, grow_to, revise
from crowdclust_app.inference.crowdclustering.model.data import PairLabelData
from crowdclust_app.inference.crowdclustering.model.initialisation import start_positions
from crowdclust_app.inference.crowdclustering.model.mixture import Mixture, held_round, one_round, position_prior
from crowdclust_app.inference.crowdclustering.model.parallel import Parallel
from crowdclust_app.inference.crowdclustering.model.settings import ResolvedSettings
from crowdclust_app.inference.crowdclustering.partitions.starting_partition import grouped
from crowdclust_app.inference.crowdclustering.partitions.worker_pools import pool_workers
from crowdclust_app.inference.crowdclustering.selection.prediction import cluster_shapes, placement_of

HELD_OUT = "heldout"
LAYERS = "layers"
MIXTURE = "mixture"
JOINT = "joint"

# The joint iterations after which the number of components is looked at again: 5, and twice as many each time.
FIRST_REVISION = 5
# A second try begins with so many more components than the first found with the positions fixed: too many
# disappear again, too few cannot always be mended once the positions have followed them.
SECOND_SHARE = 1.5
SECOND_EXTRA = 2
# It is given up if it is behind the first try after so many joint iterations.
RACE = 30
# With a number of clusters a later start is given up if it is behind the first by more than such a part of its bound
# after so many: items stay in their clusters, so that who is clearly behind stays so.
STARTS_RACE = 10
CLEARLY = 1e-3
# A mixture with a number of clusters expects them this much narrower than they were found: positions that know
# their cluster move together. With a scale of their own width or more, small clusters disappear.
TIGHTNESS = 0.25


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How far a fit has come.

    Parameters
    ----------
    start, starts
        Which start is running, counting from 1, and how many there are; while responses are held out, which fit to
        the others, and how many of them there may be.
    phase
        "heldout", "layers", "mixture" or "joint".
    iteration
        Rounds done in this phase.
    bound
        The bound `F` in nats; comparable within a phase only.
    clusters
        Components of the mixture, or clusters that are tried on responses held out; 0 while there is none.
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
    """Keeps the trace of one start, tells whoever listens, and looks whether to stop.

    With `all_of_it` every round is reported as one of that phase. The `parallel` works, and may know of a cancel too.
    """

    start: int
    starts: int
    began: float
    progress: Callable[[Snapshot], None] | None
    cancel: CancelToken | None
    trace: list[tuple[str, float]] = field(default_factory=list)
    all_of_it: str = ""
    parallel: Parallel = field(default_factory=Parallel)

    def report(self, phase: str, iteration: int, bound: float, clusters: int) -> None:
        """Note the bound of one round; raises `Cancelled` when the fit is no longer wanted."""
        self.trace.append((phase, bound))
        if self.progress is not None:
            seconds = time.perf_counter() - self.began
            told = self.all_of_it or phase
            self.progress(Snapshot(self.start, self.starts, told, iteration, bound, clusters, seconds))
        self.check()

    def check(self) -> None:
        """Raise `Cancelled` when the fit is no longer wanted."""
        self.parallel.check()
        if self.cancel is not None:
            self.cancel.check()


@dataclass(slots=True)
class StartResult:
    """Where one start ended.

    Parameters
    ----------
    layered, grown
        Beliefs after the layers, and the mixture grown on them.
    beliefs, mixture
        The posterior.
    bound
        `F` of the joint phase at the end, in nats.
    iterations
        Joint iterations done.
    converged
        Whether the bound stood still before the iterations ran out.
    unchanged
        In how many of the last joint iterations no item changed its cluster.
    trace
        `(phase, bound)` of every round.
    """

    layered: VariationalPosterior
    grown: Mixture
    beliefs: VariationalPosterior
    mixture: Mixture
    bound: float
    iterations: int
    converged: bool
    unchanged: int
    trace: tuple[tuple[str, float], ...]

    @property
    def merit(self) -> tuple[int, float]:
        """By which the best start is told: its bound; with a number of clusters, first how many of them have items.

        Fewer clusters can have a higher bound, and would win where more were wanted.
        """
        if not isinstance(self.beliefs.settings.n_clusters, int):
            return 0, self.bound
        return len(np.unique(np.argmax(self.mixture.memberships, axis=1))), self.bound

    @property
    def joint_bounds(self) -> list[float]:
        """Bounds of the joint iterations."""
        return [bound for phase, bound in self.trace if phase == JOINT]


def run_start(
    labels: PairLabelData, settings: ResolvedSettings, reporter: Reporter, rival: Sequence[float] = ()
) -> StartResult:
    """Run all phases from one start.

    With a number of clusters the mixture begins from that many clusters of the positions, and the first start ties
    the scale `J0` to them; it is in the settings of the outcome, for the other starts to keep. These are given the
    bounds of its joint iterations as their rival's.
    """
    positions = start_positions(labels, settings.dimensions, reporter.start - 1, settings.seed)
    layered = VariationalPosterior.at_positions(labels, settings, positions.copy(), reporter.parallel)
    run_layers(layered, reporter)
    if isinstance(settings.n_clusters, int):
        # random positions say nothing by themselves
        origin = positions if reporter.start == 1 else None
        return finish(layered, run_partition(layered, settings.n_clusters, reporter, origin), reporter, rival)
    first = finish(layered, run_mixture(layered, reporter), reporter)
    return try_again(first, reporter)


def one_start(
    labels: PairLabelData,
    settings: ResolvedSettings,
    start: int,
    began: float,
    rival: Sequence[float] = (),
    *,
    progress: Callable[[Snapshot], None] | None,
    parallel: Parallel,
) -> StartResult:
    """`run_start` as a task for whoever makes several of them."""
    return run_start(
        labels, settings, Reporter(start, settings.n_starts, began, progress, None, parallel=parallel), rival
    )


def try_again(first: StartResult, reporter: Reporter) -> StartResult:
    """Run the joint phase once more from more components; return the better of the two."""
    layered = first.layered
    size = max(first.grown.size + SECOND_EXTRA, math.ceil(SECOND_SHARE * first.grown.size))
    mean, variance, settings = layered.mean, layered.variance, layered.settings
    more, bound = grow_to(size, first.grown, -np.inf, mean, variance, settings, reporter.check)
    if more.size == first.grown.size:
        return first
    reporter.trace = [entry for entry in first.trace if entry[0] == LAYERS]
    reporter.report(MIXTURE, 1, fixed_part(layered) + bound, more.size)
    second = finish(layered, more, reporter, first.joint_bounds)
    return second if second.bound > first.bound else first


def finish(
    layered: VariationalPosterior, grown: Mixture, reporter: Reporter, rival: Sequence[float] = ()
) -> StartResult:
    """Run the joint phase from what the layers and the growth found, which stay as they are."""
    beliefs = layered.copy()
    mixture, bound, iterations, converged, unchanged = run_joint(beliefs, grown, reporter, rival)
    trace = tuple(reporter.trace)
    return StartResult(layered, grown, beliefs, mixture, bound, iterations, converged, unchanged, trace)


def run_layers(beliefs: VariationalPosterior, reporter: Reporter) -> None:
    """Positions with the prior `N(0, s_x)`, weights, biases, in turn."""
    settings = beliefs.settings
    n, D = beliefs.mean.shape
    precision = np.repeat(np.eye(D)[None] / settings.position_variance, n, axis=0)
    shift = np.zeros((n, D))
    for iteration in range(1, settings.layer_rounds + 1):
        beliefs.update_items(precision, shift)
        rest = worker_divergence(beliefs) + layer_divergence(beliefs)
        sums = beliefs.update_weights()
        # one pass over the labels says where the positions came to, before it moves the workers
        bound = float(sums[:, 2].sum()) - rest
        beliefs.update_biases(sums)
        beliefs.learn_prior()
        reporter.report(LAYERS, iteration, bound, 0)


def fixed_part(beliefs: VariationalPosterior) -> float:
    """What the bound has besides the mixture's, in nats."""
    return float(beliefs.sum_labels()[:, 2].sum()) - worker_divergence(beliefs) + position_entropy(beliefs)


def run_mixture(beliefs: VariationalPosterior, reporter: Reporter) -> Mixture:
    """Grow the mixture with everything else fixed."""
    rest = fixed_part(beliefs)
    kept = 0

    def watch(mixture: Mixture, bound: float) -> None:
        nonlocal kept
        kept += 1
        reporter.report(MIXTURE, kept, rest + bound, mixture.size)

    return grow(beliefs.mean, beliefs.variance, beliefs.settings, watch, reporter.check)[0]


def run_partition(
    beliefs: VariationalPosterior, clusters: int, reporter: Reporter, origin: Floats | None = None
) -> Mixture:
    """Begin the mixture from so many clusters of the positions (section 9), refined by the pair labels.

    The items stay in them: positions and workers are fitted to these clusters. Left to the mixture, positions lie so
    wide at first, and follow single misplaced labels so far later, that clusters run into each other.
    """
    mean, variance = beliefs.mean, beliefs.variance
    crowd = pool_workers(beliefs.labels, placement_of(beliefs, beliefs.labels.n_items, origin))
    partition = grouped(crowd, clusters, beliefs.settings.seed, reporter.check)
    if reporter.start == 1:
        within = float(np.mean(np.diagonal(cluster_shapes(mean, variance, partition)[1], axis1=1, axis2=2)))
        beliefs.settings = replace(beliefs.settings, scale=min(beliefs.settings.scale, TIGHTNESS * within))
    reporter.check()
    mixture, bound = held_round(np.eye(int(partition.max()) + 1)[partition], mean, variance, beliefs.settings)
    reporter.report(MIXTURE, 1, fixed_part(beliefs) + bound, mixture.size)
    return mixture


def run_joint(
    beliefs: VariationalPosterior, mixture: Mixture, reporter: Reporter, rival: Sequence[float] = ()
) -> tuple[Mixture, float, int, bool, int]:
    """Everything in turn, until the bound stands still, the iterations run out or a rival is clearly ahead.

    Returns the mixture, the bound, the iterations, whether they sufficed, and in how many of the last no item moved.
    """
    settings = beliefs.settings
    round_of = held_round if isinstance(settings.n_clusters, int) else one_round
    race, margin = (STARTS_RACE, CLEARLY) if round_of is held_round else (RACE, 0.0)
    before = -np.inf
    converged = False
    iteration = unchanged = 0
    revision = FIRST_REVISION
    while iteration < settings.max_iterations and not converged:
        iteration += 1
        components = together_of(mixture)
        beliefs.update_items(*position_prior(mixture))
        mixture, mixture_bound = round_of(mixture.memberships, beliefs.mean, beliefs.variance, settings)
        rest = mixture_bound + position_entropy(beliefs) - worker_divergence(beliefs)
        sums = beliefs.update_weights()
        bound = float(sums[:, 2].sum()) + rest
        beliefs.update_biases(sums)
        beliefs.learn_prior()
        reporter.report(JOINT, iteration, bound, mixture.size)
        unchanged = unchanged + 1 if np.array_equal(components, together_of(mixture)) else 0
        converged = abs(bound - before) <= settings.tolerance * abs(bound)
        before = bound
        if iteration == race and len(rival) >= race and bound < rival[race - 1] - margin * abs(rival[race - 1]):
            break
        if settings.n_clusters == "bound" and (converged or iteration == revision):
            revision = max(revision, 2 * iteration)
            revised = revise(mixture, mixture_bound, beliefs.mean, beliefs.variance, settings, reporter.check)
            converged = converged and revised is mixture
            mixture = revised
    # the last biases, prior and revisions are not in the bound yet
    mixture, mixture_bound = round_of(mixture.memberships, beliefs.mean, beliefs.variance, settings)
    return mixture, fixed_part(beliefs) + mixture_bound, iteration, converged, unchanged


def together_of(mixture: Mixture) -> Ints:
    """The first item of each item's likeliest component: the same however the components are sorted; (n,)."""
    _, first, number = np.unique(np.argmax(mixture.memberships, axis=1), return_index=True, return_inverse=True)
    return np.asarray(first[number], dtype=np.int64)
