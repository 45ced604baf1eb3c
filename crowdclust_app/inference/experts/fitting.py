"""The stages of a fit: the kernel on some items, then the workers on all, with every site or an active set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_table import Codes, Floats, LabelTable
from crowdclust_app.inference.experts.active_set import (
    ActiveSet,
    DenseField,
    FactorField,
    learned_from_members,
    refit_all,
    select,
)
from crowdclust_app.inference.experts.generalised_em import (
    GOLD_EXPERTISE,
    EMSettings,
    KernelPrior,
    LearnedWorkers,
    initial_workers,
    learn_workers,
    learn_workers_and_kernel,
    propagate_finely,
    random_items,
)
from crowdclust_app.inference.experts.kernel import Kernel, squared_distances
from crowdclust_app.inference.experts.posterior import DenseEngine
from crowdclust_app.inference.experts.propagation import Sites
from crowdclust_app.inference.experts.sites import (
    WorkerLabels,
    WorkerPosterior,
    WorkerPriors,
    label_likelihoods,
    update_sites,
)

MOST_DENSE = 1500
"""Labelled items up to which every site is kept by default."""

KERNEL_ITEMS = 400
"""Labelled items from which the kernel is learned, at most."""


@dataclass(frozen=True, slots=True)
class FitPlan:
    """How a fit is done.

    Parameters
    ----------
    priors
        Of the workers.
    centre
        Mode of the kernel's prior, from which it starts.
    learn_kernel
        Whether it is learned.
    active_set
        As in `GaussianProcessExperts`.
    max_steps, tolerance
        EM steps in a row at most, and the change at which they end.
    seed
        Of the items that are drawn.
    """

    priors: WorkerPriors
    centre: Kernel
    learn_kernel: bool
    active_set: ActiveSet | Literal["auto"] | None
    max_steps: int
    tolerance: float
    seed: int

    def active(self, count: int) -> ActiveSet | None:
        """The active set for so many labelled items; None for every site."""
        if self.active_set == "auto":
            return ActiveSet() if count > MOST_DENSE else None
        return self.active_set


@dataclass(frozen=True, slots=True)
class State:
    """What was learned, and what the next fit can start from.

    Parameters
    ----------
    rows : ndarray of shape (n,)
        Labelled items, gold ones too.
    labels
        Their labels; the last worker is gold.
    workers, kernel
        As learned.
    precision, shift : ndarray of shape (N,)
        Sites of all items; 0 where there is none.
    z : ndarray of shape (n,)
        Cavities of the labelled items in units of their spread.
    field
        What predicts other items; None without any label.
    members : ndarray of shape (m,) or None
        The active set.
    log_evidence, converged, mirrored
        Of the last fixed point.
    """

    rows: Codes
    labels: WorkerLabels
    workers: WorkerPosterior
    kernel: Kernel
    precision: Floats
    shift: Floats
    z: Floats
    field: DenseField | FactorField | None
    members: Codes | None
    log_evidence: float
    converged: bool
    mirrored: bool


def worker_labels(table: LabelTable, gold_rows: Codes, gold_codes: Codes) -> tuple[Codes, WorkerLabels, Floats]:
    """Give the labelled rows, their labels with gold as one worker more, and gold by labelled row (NaN elsewhere)."""
    edges, gold = table.edges, table.n_workers
    item = np.concatenate([edges.task, gold_rows])
    worker = np.concatenate([edges.worker, np.full(len(gold_rows), gold)])
    yes = np.concatenate([edges.ones, gold_codes]).astype(np.float64)
    no = np.concatenate([edges.zeros, 1 - gold_codes]).astype(np.float64)
    rows, place = np.unique(item, return_inverse=True)
    known = np.full(table.n_tasks, np.nan)
    known[gold_rows] = gold_codes
    fixed = np.arange(gold + 1) == gold
    return rows, WorkerLabels(len(rows), gold + 1, place.astype(np.int64), worker, yes, no, fixed), known[rows]


def carry_over_workers(previous: State, known_workers: list[int], count: int, priors: WorkerPriors) -> WorkerPosterior:
    """Initial workers from an earlier fit.

    Parameters
    ----------
    previous
        The earlier fit.
    known_workers
        Each worker's number then; -1 for newcomers. Shape (R,).
    count
        `R`.
    priors
        Whose mode newcomers start from.
    """
    a, b = priors.expertise
    expertise = np.full(count + 1, (a - 1.0) / (a + b - 2.0))
    numbers = np.array(known_workers, dtype=np.int64)
    expertise[:count][numbers >= 0] = previous.workers.expertise[numbers[numbers >= 0]]
    expertise[count] = GOLD_EXPERTISE
    return WorkerPosterior(expertise, previous.workers.agreement, np.zeros(count + 1))


def learn(
    X: Floats, table: LabelTable, gold: tuple[Codes, Codes], plan: FitPlan, run: Iterations,
    previous: tuple[State, WorkerPosterior] | None = None, relearn_kernel: bool = True,
) -> State:  # fmt: skip
    """Learn kernel and workers.

    Parameters
    ----------
    X : ndarray of shape (N, D)
        Features of all items.
    table
        Labels, tasks numbered as the rows of `X`.
    gold
        Rows and classes of gold items.
    plan
        How.
    run
        Counts the steps.
    previous
        An earlier fit, and the workers to start from.
    relearn_kernel
        Whether the kernel moves (if the plan allows it).
    """
    rows, labels, known = worker_labels(table, *gold)
    kernel = previous[0].kernel if previous else plan.centre
    workers = previous[1] if previous else initial_workers(labels, plan.priors, known if len(gold[0]) else None)
    if not len(rows):
        return _state_without_labels(len(X), rows, labels, workers, kernel)
    sites = Sites.none(len(rows))
    if previous:
        sites = Sites(previous[0].precision[rows], previous[0].shift[rows])
    em = EMSettings(plan.priors, plan.max_steps, plan.tolerance, bool(len(gold[0])), run.step, run.check)
    active, mirrored = plan.active(len(rows)), False
    if plan.learn_kernel and relearn_kernel:
        rng = np.random.default_rng([plan.seed, 0])
        some = random_items(len(rows), KERNEL_ITEMS, rng)
        squared = squared_distances(X[rows[some]], X[rows[some]])
        begin = Sites(sites.precision[some], sites.shift[some])
        result, kernel = learn_workers_and_kernel(
            squared, labels.take(some), workers, begin, kernel, KernelPrior(plan.centre), em
        )
        workers, mirrored = result.workers, result.mirrored
        if len(some) == len(rows) and active is None:
            return _dense_state(X, rows, labels, kernel, result)
        run.bounds.clear()  # of other items: no longer comparable
        if active is None:
            sites = _initial_sites(X[rows], some, labels, kernel, result)
    if active is None:
        engine, noise = DenseEngine(kernel.between(X[rows], X[rows])), np.ones(len(rows))
        result = learn_workers(engine, noise, labels, workers, sites, em)
        result = propagate_finely(engine, noise, labels, result, em)
        return _dense_state(X, rows, labels, kernel, replace(result, mirrored=mirrored or result.mirrored))
    members = previous[0].members if previous and active.refit else None
    start = (workers, sites, members)
    return _active_state(X, rows, labels, kernel, start, active, em, run, plan.seed, mirrored)


def _initial_sites(X: Floats, some: Codes, labels: WorkerLabels, kernel: Kernel, result: LearnedWorkers) -> Sites:
    """Sites of all labelled items to start from, given those of some."""
    found = result.propagated
    mean, variance = DenseField(X[some], kernel, found.posterior).predict(X)
    guess = update_sites(mean, variance, np.ones(len(X)), label_likelihoods(labels, result.workers))
    precision, shift = guess.precision, guess.shift
    precision[some], shift[some] = found.sites.precision, found.sites.shift
    return Sites(precision, shift)


def _state_without_labels(
    count: int, rows: Codes, labels: WorkerLabels, workers: WorkerPosterior, kernel: Kernel
) -> State:
    zeros = np.zeros(count)
    return State(rows, labels, workers, kernel, zeros, zeros, np.empty(0), None, None, 0.0, True, False)


def _dense_state(X: Floats, rows: Codes, labels: WorkerLabels, kernel: Kernel, result: LearnedWorkers) -> State:
    found = result.propagated
    field = DenseField(X[rows], kernel, found.posterior)
    return _state(len(X), rows, rows, labels, kernel, result, found.update.z, field, None)


def _active_state(
    X: Floats, rows: Codes, labels: WorkerLabels, kernel: Kernel, start: tuple[WorkerPosterior, Sites, Codes | None],
    active: ActiveSet, em: EMSettings, run: Iterations, seed: int, mirrored: bool,
) -> State:  # fmt: skip
    workers, sites, members = start
    XL = X[rows]
    if members is None:
        chosen, mirrored_now = select(XL, kernel, labels, workers, active, em, np.random.default_rng([seed, 1]))
        mirrored |= mirrored_now
        members, workers = rows[chosen.members], chosen.workers
        if not active.refit:
            result = learned_from_members(chosen, mirrored)
            mean, variance = chosen.moments(np.arange(len(rows)))
            z = mean / np.sqrt(variance + 1.0)
            return _state(len(X), rows, members, labels, kernel, result, z, chosen.field, members)
        run.bounds.clear()
        sites = Sites.none(len(rows))
    result, field = refit_all(XL, X[members], kernel, labels, workers, sites, em)
    result = replace(result, mirrored=mirrored or result.mirrored)
    return _state(len(X), rows, rows, labels, kernel, result, result.propagated.update.z, field, members)


def _state(
    count: int, rows: Codes, sited: Codes, labels: WorkerLabels, kernel: Kernel, result: LearnedWorkers, z: Floats,
    field: DenseField | FactorField, members: Codes | None,
) -> State:  # fmt: skip
    found = result.propagated
    precision, shift = np.zeros(count), np.zeros(count)
    precision[sited], shift[sited] = found.sites.precision, found.sites.shift
    return State(
        rows, labels, result.workers, kernel, precision, shift, z, field, members, found.log_evidence,
        result.converged, result.mirrored,
    )  # fmt: skip
