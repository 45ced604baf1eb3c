"""Bayesian crowdclustering as one estimator (gomes2011)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import warn_not_converged
from crowdclust_app.domain.fit_settings import AUTO, FitSettings
from crowdclust_app.domain.response_table import ResponseTable, as_response_table
from crowdclust_app.inference.clustering import NOT_SHOWN, ClusterEstimator
from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.model.canonical_order import Ordered, ordered
from crowdclust_app.inference.crowdclustering.model.confusion import (
    activity_moments,
    bound_confusion,
    calibrated_confusion,
)
from crowdclust_app.inference.crowdclustering.model.data import PairLabelData, labels_of
from crowdclust_app.inference.crowdclustering.model.mixture import expected_weights
from crowdclust_app.inference.crowdclustering.model.parallel import Parallel
from crowdclust_app.inference.crowdclustering.model.schedule import Snapshot, StartResult, one_start
from crowdclust_app.inference.crowdclustering.model.settings import ResolvedSettings, resolved, with_dimensions
from crowdclust_app.inference.crowdclustering.model.summary import (
    entropy_bits,
    fisher_axes,
    keep_columns,
    order_by_size,
)
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers
from crowdclust_app.inference.crowdclustering.selection.bound_choice import (
    BoundValidation,
    choose_settings,
    planned_fits,
)
from crowdclust_app.inference.crowdclustering.selection.curve import Work
from crowdclust_app.inference.crowdclustering.selection.heldout import HeldOut, can_hold_out, heldout_of
from crowdclust_app.inference.crowdclustering.selection.partitioning import Partitioned, partition_items

# What is fitted item by item, and worker by worker.
BY_ITEM = (
    "positions_",
    "position_variances_",
    "shown_",
    "responsibilities_",
    "independent_responsibilities_",
    "probability_",
    "labels_",
    "fisher_",
)
BY_WORKER = (
    "weights_",
    "weight_variances_",
    "biases_",
    "bias_variances_",
    "answered_",
    "confusion_",
    "confusion_bound_",
)
DEFAULTS = FitSettings()
# With "auto" and clusters from decisions.
LABEL_WEIGHT = 0.5


class Crowdclustering(ClusterEstimator):
    """Find atomic clusters, and how each worker sorts them, from partial clusterings.

    The defaults are the program's: the partition is the one under which the responses' decisions are likeliest, into as
    many clusters as predict held-out responses well, and positions, workers and confusion are those of a mixture with
    one component a cluster. `as_published` gives the paper's settings. The constructor keeps its parameters; `fit`
    checks them. A fit is a function of the responses, the parameters and the seed; responses, items and workers may be
    in any order.

    Parameters
    ----------
    n_clusters : "heldout", "bound" or int
        "heldout": as many as predict held-out responses well; "bound": as many as the bound asks for, for which the
        joint phase is tried a second time from more components. A number: exactly that many clusters, or as many as
        there are items.
    n_starts : int
        How many starts of the search for a partition, of which the likeliest is kept, and of the fit of positions and
        workers, of which the highest bound wins; the first is spectral, the others random.
    dimensions : "auto" or int
        `D` of the space in which items lie; "auto": 4, and with the bound what predicts held-out responses best of 2,
        4 and 6.
    label_weight : "auto" or float
        `kappa` in (0, 1]: how much a pair label counts. 1 is the paper; labels of one HIT are not independent, and
        less is better where placements are noisy. "auto": 0.5, since clusters do not depend on it and with less the
        positions of small campaigns fall together; with the bound what predicts held-out responses best.
    worker_prior : "shared" or "independent"
        "shared": mean and variance of the workers' prior are learnt from all of them; "independent": the paper's.
        With `consensus` there is one worker and it is always independent.
    folds : int
        Folds of the cross-validation: responses are held out to see how well the rest predicts them; 0 leaves that
        out. Where fewer can be held out, there are fewer folds. Where none can, "heldout" takes the groups of the only
        response for clusters, and with the bound "auto" means the paper's.
    consensus : bool
        Give all responses to one worker (Bayesian consensus); then `J` is 1 in every attribute. Clusters are those of
        workers who do not differ.
    seed : int
        Seed of the random starts.
    weight_variance, bias_variance, position_variance : float
        Prior variances `s_w` of the workers' weights, `s_tau` of their biases, and `s_x` of positions while there is
        no mixture yet.
    concentration : float
        `alpha` of the Dirichlet process.
    mean_precision, scale, degrees_of_freedom : float
        `beta0`, `J0` (times the identity) and `eta0` of the components' Normal-Wishart prior; `eta0` is `D + 2`
        unless given. On simulated campaigns smaller scales cut clusters up, larger ones run them together. With a
        number of clusters the scale is at most a quarter of their variances at the start.
    layer_rounds : int
        Rounds of positions and workers before the mixture. The spectral start is good, and more rounds predict
        held-out responses worse.
    max_iterations, tolerance : int, float
        The joint phase ends when the bound changes by less than `tolerance` of itself, or after so many iterations.

    Attributes
    ----------
    items_, workers_ : ndarray of str, shape (N,) and (J,)
        Their names, in the order of all that follows.
    positions_, position_variances_ : ndarray of shape (N, D)
        Items; one that is not shown has the mixture's own mean and variances.
    weights_, weight_variances_ : ndarray of shape (J, D, D)
        Workers' symmetric weights; the prior for workers without a pair label.
    biases_, bias_variances_ : ndarray of shape (J,)
    answered_ : ndarray of shape (J,)
        Workers with at least one pair label.
    shown_ : ndarray of shape (N,)
        Items with at least one pair label.
    responsibilities_ : ndarray of shape (N, K)
        Probabilities of the clusters, the largest first: in proportion to the chance that the item goes with another
        member of each, over the partitions and numbers of clusters that are plausible. With the bound they are the
        mixture's, as in the paper. An item that is not shown has `mixing_`.
    probability_ : ndarray of shape (N,)
        The chance itself, of the item's own cluster: with one cluster, too, it says how often two of its items go
        together. With the bound it is the probability of the cluster.
    labels_ : ndarray of shape (N,)
        Most probable cluster, counted from 1; 0 for an item that is not shown.
    too_little_, continuous_, more_sets_ : bool, bool, int
        Whether there are too few answers to tell clusters from none, about how many more responses would tell (0 where
        there are enough), and whether items lie on a line or in a plane without gaps. With the bound nothing is said.
    fold_agreement_ : float
        How alike the partitions of different responses are: mean adjusted Rand index of two folds.
    means_, covariances_, mixing_ : ndarray of shape (K, D), (K, D, D), (K,)
        The clusters' means, covariances `J_k / eta_k` and expected weights.
    bound_ : float
        The evidence lower bound `F` of the best start, in nats.
    lower_bounds_ : tuple of (str, float)
        Phase and bound of each round of the best start; within a phase it never falls.
    start_bounds_ : tuple of float
        Bound of each start, of the better of its two tries.
    n_iterations_ : int
        Joint iterations of the best start.
    converged_ : bool
        Whether they sufficed.
    n_unchanged_ : int
        In how many of the last of them no item changed its cluster.
    heldout_ : HeldOut or None
        How well held-out responses are predicted, and what was chosen by them.
    dimensions_, label_weight_, fitted_settings_ : int, float, ResolvedSettings
        What was fitted with.
    independent_responsibilities_ : ndarray of shape (N, K)
        What the probabilities would be if the partition of the other items were known for certain: far too sure.
    entropy_bits_ : float
        Mean entropy of the responsibilities of items shown, in bits.
    fisher_ : ndarray of shape (N, 2)
        Positions projected on the first two Fisher discriminant directions.
    confusion_, confusion_bound_ : ndarray of shape (J, K, K)
        Probability that a worker puts an item of one cluster with one of another, and the paper's lower bound of it
        (eq. 10). Where `answered_` is false they say nothing.
    """

    positions_: Floats
    position_variances_: Floats
    weights_: Floats
    weight_variances_: Floats
    biases_: Floats
    bias_variances_: Floats
    answered_: NDArray[np.bool_]
    shown_: NDArray[np.bool_]
    means_: Floats
    covariances_: Floats
    mixing_: Floats
    bound_: float
    lower_bounds_: tuple[tuple[str, float], ...]
    start_bounds_: tuple[float, ...]
    n_iterations_: int
    converged_: bool
    n_unchanged_: int
    heldout_: HeldOut | None
    dimensions_: int
    label_weight_: float
    fitted_settings_: ResolvedSettings
    too_little_: bool
    continuous_: bool
    fold_agreement_: float
    more_sets_: int
    independent_responsibilities_: Floats
    probability_: Floats
    entropy_bits_: float
    fisher_: Floats
    confusion_: Floats
    confusion_bound_: Floats

    def __init__(
        self,
        *,
        n_clusters: Literal["bound", "heldout"] | int = DEFAULTS.n_clusters,
        n_starts: int = DEFAULTS.n_starts,
        dimensions: Literal["auto"] | int = DEFAULTS.dimensions,
        label_weight: Literal["auto"] | float = DEFAULTS.label_weight,
        worker_prior: Literal["independent", "shared"] = DEFAULTS.worker_prior,
        folds: int = DEFAULTS.folds,
        consensus: bool = False,
        seed: int = DEFAULTS.seed,
        weight_variance: float = DEFAULTS.weight_variance,
        bias_variance: float = DEFAULTS.bias_variance,
        position_variance: float = DEFAULTS.position_variance,
        concentration: float = DEFAULTS.concentration,
        mean_precision: float = DEFAULTS.mean_precision,
        scale: float = DEFAULTS.scale,
        degrees_of_freedom: float | None = DEFAULTS.degrees_of_freedom,
        layer_rounds: int = DEFAULTS.layer_rounds,
        max_iterations: int = DEFAULTS.max_iterations,
        tolerance: float = DEFAULTS.tolerance,
    ) -> None:
        self._keep_parameters(locals())

    @classmethod
    def as_published(cls, **overrides: Any) -> Self:
        """The settings of the paper: four dimensions, as many clusters as the bound asks for, nothing held out.

        Parameters
        ----------
        **overrides
            Parameters that are to be different.

        Examples
        --------
        >>> Crowdclustering.as_published(seed=1).label_weight
        1.0
        """
        paper: dict[str, Any] = {"dimensions": 4, "n_clusters": "bound", "folds": 0}
        paper |= {"label_weight": 1.0, "worker_prior": "independent"}
        return cls(**paper | overrides)

    def fit(
        self,
        responses: Any,
        *,
        progress: Callable[[Snapshot], None] | None = None,
        cancel: CancelToken | None = None,
        parallel: Parallel | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        responses : ResponseTable, pandas.DataFrame or mapping
            The responses: a table of them, or columns `hit`, `worker`, `item` and `group`, one row for each item that
            a worker put into a group.
        progress
            Is given a snapshot every round, on the calling thread.
        cancel
            Is polled several times a round.
        parallel
            Threads and processes that share the work; they change nothing but the time. None for this thread alone.

        Raises
        ------
        InvalidInputError
            When a parameter is out of range, a column is missing, or there is no pair label.
        Cancelled
            When `cancel` asks for it; nothing fitted is changed then.

        Warns
        -----
        NotConvergedWarning
            When the bound was still rising after `max_iterations` joint iterations.

        Examples
        --------
        >>> columns = {
        ...     "hit": ["h1"] * 4,
        ...     "worker": ["Ann"] * 4,
        ...     "item": ["rose", "tulip", "oak", "fir"],
        ...     "group": ["flowers", "flowers", "trees", "trees"],
        ... }
        >>> model = Crowdclustering(n_clusters=2, n_starts=1, dimensions=2, label_weight=1.0, folds=0)
        >>> model.fit_predict(columns).tolist()
        [2, 2, 1, 1]
        """
        table = as_response_table(responses)
        asked = self._settings()
        settings = resolved(asked)
        order = ordered(table)
        labels = labels_of(order.table, settings.consensus)
        began = time.perf_counter()
        parallel = parallel or Parallel()
        parallel = parallel if cancel is None else replace(parallel, check=cancel.check)
        if asked.n_clusters == "bound":
            clusters, partition = None, None
            heldout = self._hold_out(order.table, asked, began, progress, cancel, parallel)
            if heldout is not None:
                settings = with_dimensions(settings, heldout.dimensions)
                settings = replace(settings, label_weight=heldout.label_weight)
        else:
            if asked.label_weight == AUTO:
                settings = replace(settings, label_weight=LABEL_WEIGHT)
            clusters = self._find_clusters(order.table, settings, began, progress, parallel)
            heldout = heldout_of(clusters, settings, order.table.n_workers)
            settings = replace(settings, n_clusters=clusters.n_clusters)
            partition = clusters.partition[labels.shown]
        best, settings, self.start_bounds_ = _best_start(labels, settings, partition, began, progress, cancel, parallel)
        self.heldout_ = heldout
        self.dimensions_, self.label_weight_ = settings.dimensions, settings.label_weight
        self.fitted_settings_ = settings
        self._keep(best, labels, table.n_items, clusters)
        self._restore_order(order, settings.consensus)
        self._keep_names(table)
        if not self.converged_:
            warn_not_converged(_still_rising(self.n_iterations_, settings))
        return self

    def _restore_order(self, order: Ordered, consensus: bool) -> None:
        """Give items and workers the numbers that they have in the table that was given."""
        for name in BY_ITEM:
            setattr(self, name, getattr(self, name)[order.item_at])
        if not consensus:
            for name in BY_WORKER:
                setattr(self, name, getattr(self, name)[order.worker_at])
        if self.heldout_ is not None:
            scores = self.heldout_.workers
            moved = {field.name: getattr(scores, field.name)[order.worker_at] for field in fields(scores)}
            self.heldout_ = replace(self.heldout_, workers=replace(scores, **moved))

    @staticmethod
    def _find_clusters(
        table: ResponseTable,
        settings: ResolvedSettings,
        began: float,
        progress: Callable[[Snapshot], None] | None,
        parallel: Parallel,
    ) -> Partitioned:
        """Put items into clusters: as many as asked for, or as predict held-out responses well."""

        def tell(phase: str, done: int, steps: int, clusters: int) -> None:
            if progress is not None:
                progress(Snapshot(done, steps, phase, done, 0.0, clusters, time.perf_counter() - began))

        wanted = None if settings.n_clusters == "heldout" else int(settings.n_clusters)
        work = Work(parallel.check, tell, parallel)
        answers = Answers.of(table, individual=not settings.consensus)
        return partition_items(answers, wanted, settings.folds, settings.n_starts, settings.seed, work)

    @staticmethod
    def _hold_out(
        table: ResponseTable,
        asked: FitSettings,
        began: float,
        progress: Callable[[Snapshot], None] | None,
        cancel: CancelToken | None,
        parallel: Parallel,
    ) -> HeldOut | None:
        """Hold responses out for a fit whose number of clusters the bound says, where that is asked for and can be."""
        if asked.folds == 0 or not can_hold_out(table):
            return None
        weight, dimensions = asked.label_weight == AUTO, asked.dimensions == AUTO
        planned = planned_fits(asked.folds, weight, dimensions)
        validation = BoundValidation(table, resolved(asked), asked.folds, planned, progress, cancel, began, parallel)
        return choose_settings(validation, weight, dimensions)

    def _settings(self) -> FitSettings:
        """The parameters, checked."""
        # numbers of numpy, such as those of a loop over an array, are taken for Python's
        given = {name: one.item() if isinstance(one, np.generic) else one for name, one in self.get_params().items()}
        method = "consensus" if given.pop("consensus") else "crowdclustering"
        return FitSettings(method=method, **given)

    def _keep(self, best: StartResult, labels: PairLabelData, n_items: int, clusters: Partitioned | None) -> None:
        """Set the fitted attributes from the best start, and clusters from the search for them where there was one."""
        posterior, mixture = best.posterior, best.mixture
        self.bound_ = best.bound
        self.lower_bounds_ = best.trace
        self.n_iterations_ = best.iterations
        self.converged_ = best.converged
        self.n_unchanged_ = best.unchanged
        self.weights_, self.weight_variances_ = posterior.weights, posterior.weight_variances
        self.biases_, self.bias_variances_ = posterior.biases, posterior.bias_variances
        self.answered_ = np.isin(np.arange(labels.n_workers), labels.answered)
        self.shown_ = np.isin(np.arange(n_items), labels.shown)

        if clusters is None:
            order = order_by_size(mixture.memberships)
            memberships = independent = keep_columns(mixture.memberships, order)
            self.too_little_, self.continuous_, self.fold_agreement_, self.more_sets_ = False, False, 1.0, 0
        else:
            # components may be in another order than clusters, but have the same items
            first = np.unique(clusters.partition[labels.shown], return_index=True)[1]
            order = np.argmax(mixture.memberships[first], axis=1)
            chances, independent = clusters.chances[labels.shown], clusters.independent[labels.shown]
            memberships = chances / chances.sum(axis=1, keepdims=True)
            self.too_little_, self.continuous_ = clusters.too_little, clusters.continuous
            self.fold_agreement_, self.more_sets_ = clusters.fold_agreement, clusters.more_sets
        weights = expected_weights(mixture)[order]
        self.mixing_ = weights / weights.sum()
        self.means_ = mixture.means[order]
        self.covariances_ = mixture.scatters[order] / mixture.freedoms[order, None, None]
        self.responsibilities_ = np.tile(self.mixing_, (n_items, 1))
        self.responsibilities_[labels.shown] = memberships
        self.independent_responsibilities_ = self.responsibilities_.copy()
        self.independent_responsibilities_[labels.shown] = independent
        probable = self.responsibilities_ if clusters is None else clusters.chances
        self.probability_ = probable.max(axis=1)
        self.labels_ = np.full(n_items, NOT_SHOWN, dtype=np.int64)
        self.labels_[labels.shown] = 1 + np.argmax(memberships, axis=1)
        self.entropy_bits_ = float(entropy_bits(memberships).mean())

        centre = self.mixing_ @ self.means_
        second = self.mixing_ @ (np.diagonal(self.covariances_, axis1=1, axis2=2) + self.means_**2)
        self.positions_ = np.tile(centre, (n_items, 1))
        self.position_variances_ = np.tile(second - centre**2, (n_items, 1))
        self.positions_[labels.shown] = posterior.mean
        self.position_variances_[labels.shown] = posterior.variance
        self.fisher_ = self.positions_ @ fisher_axes(posterior.mean, self.labels_[labels.shown])

        mean, square = activity_moments(
            self.weights_, self.weight_variances_, self.biases_, self.bias_variances_, self.means_, self.covariances_
        )
        self.confusion_ = calibrated_confusion(mean, square)
        self.confusion_bound_ = bound_confusion(mean, square)


def _best_start(
    labels: PairLabelData,
    settings: ResolvedSettings,
    partition: Ints | None,
    began: float,
    progress: Callable[[Snapshot], None] | None,
    cancel: CancelToken | None,
    parallel: Parallel,
) -> tuple[StartResult, ResolvedSettings, tuple[float, ...]]:
    """The start with the highest bound, the settings that they ended with, and the bound of each."""
    best: StartResult | None = None
    bounds: list[float] = []
    # with clusters the first start settles the scale for all
    everything = range(1, settings.n_starts + 1)
    for starts in (everything,) if partition is None else (everything[:1], everything[1:]):
        incumbent_bounds = [] if best is None else best.joint_bounds
        tasks = [(labels, settings, start, began, incumbent_bounds, partition) for start in starts]
        for outcome in parallel.each(one_start, tasks, progress, cancel):
            settings = outcome.posterior.settings
            bounds.append(outcome.bound)
            if best is None or outcome.bound > best.bound:
                best = outcome
    assert best is not None
    return best, settings, tuple(bounds)


def _still_rising(iterations: int, settings: ResolvedSettings) -> str:
    text = f"the bound was still rising after {iterations} joint iterations"
    if isinstance(settings.n_clusters, int):
        # items stay in their clusters then, only positions and workers move
        text += "; the clusters are settled, but the workers' figures can still change a little"
    return text
