"""The way of a fit: kernel on some items, crowd on all, by every site or by an active set."""

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
    refit_all,
    result_of,
    select,
)
from crowdclust_app.inference.experts.crowd_learning import (
    GOLD_EXPERTISE,
    KernelPrior,
    LearnedCrowd,
    Learner,
    finish,
    first_crowd,
    learn_at_kernel,
    learn_with_kernel,
    some_items,
)
from crowdclust_app.inference.experts.kernel import Kernel, squared_distances
from crowdclust_app.inference.experts.posterior import DenseEngine
from crowdclust_app.inference.experts.propagation import Sites
from crowdclust_app.inference.experts.sites import CrowdLabels, CrowdPosterior, CrowdPriors, evidence_of, update_sites

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
        Of the crowd.
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

    priors: CrowdPriors
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
    """What was learned, and all that learning on starts from.

    Parameters
    ----------
    rows : ndarray of shape (n,)
        Labelled items, gold ones too.
    labels
        Their labels; the last worker is gold.
    crowd
        As believed.
    kernel
        As learned.
    precision, shift : ndarray of shape (N,)
        Sites of all items; 0 where there is none.
    z : ndarray of shape (n,)
        Cavities of the labelled items in units of their spread.
    field
        What predicts other items; None without any label.
    members : ndarray of shape (m,) or None
        The active set.
    log_evidence, converged, turned
        Of the last fixed point.
    """

    rows: Codes
    labels: CrowdLabels
    crowd: CrowdPosterior
    kernel: Kernel
    precision: Floats
    shift: Floats
    z: Floats
    field: DenseField | FactorField | None
    members: Codes | None
    log_evidence: float
    converged: bool
    turned: bool


def crowd_labels(table: LabelTable, gold_rows: Codes, gold_codes: Codes) -> tuple[Codes, CrowdLabels, Floats]:
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
    return rows, CrowdLabels(len(rows), gold + 1, place.astype(np.int64), worker, yes, no, fixed), known[rows]


def carried(previous: State, known_workers: list[int], count: int, priors: CrowdPriors) -> CrowdPosterior:
    """The crowd of an earlier fit for the workers of now.

    Parameters
    ----------
    previous
        The earlier fit.
    known_workers
        Each worker's number then; -1 for newcomers. Shape (R,).
    count
        `R`.
    priors
        What is believed of newcomers.
    """
    a, b = priors.expertise
    expertise = np.full(count + 1, (a - 1.0) / (a + b - 2.0))
    numbers = np.array(known_workers, dtype=np.int64)
    expertise[:count][numbers >= 0] = previous.crowd.expertise[numbers[numbers >= 0]]
    expertise[count] = GOLD_EXPERTISE
    return CrowdPosterior(expertise, previous.crowd.agreement, np.zeros(count + 1))


def learn(
    X: Floats, table: LabelTable, gold: tuple[Codes, Codes], plan: FitPlan, run: Iterations,
    previous: tuple[State, CrowdPosterior] | None = None, relearn_kernel: bool = True,
) -> State:  # fmt: skip
    """Learn kernel and crowd.

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
        Where to go on: an earlier fit, and its crowd for the workers of now.
    relearn_kernel
        Whether the kernel moves (if the plan allows it).
    """
    rows, labels, known = crowd_labels(table, *gold)
    kernel = previous[0].kernel if previous else plan.centre
    crowd = previous[1] if previous else first_crowd(labels, plan.priors, known if len(gold[0]) else None)
    if not len(rows):
        return _nothing(len(X), rows, labels, crowd, kernel)
    sites = Sites.none(len(rows))
    if previous:
        sites = Sites(previous[0].precision[rows], previous[0].shift[rows])
    learner = Learner(plan.priors, plan.max_steps, plan.tolerance, bool(len(gold[0])), run.step, run.check)
    active, turned = plan.active(len(rows)), False
    if plan.learn_kernel and relearn_kernel:
        rng = np.random.default_rng([plan.seed, 0])
        some = some_items(len(rows), KERNEL_ITEMS, rng)
        squared = squared_distances(X[rows[some]], X[rows[some]])
        begin = Sites(sites.precision[some], sites.shift[some])
        result, kernel = learn_with_kernel(
            squared, labels.take(some), crowd, begin, kernel, KernelPrior(plan.centre), learner
        )
        crowd, turned = result.crowd, result.turned
        if len(some) == len(rows) and active is None:
            return _dense_state(X, rows, labels, kernel, result)
        run.bounds.clear()  # of other items: no longer comparable
        if active is None:
            sites = _guessed_sites(X[rows], some, labels, kernel, result)
    if active is None:
        engine, noise = DenseEngine(kernel.between(X[rows], X[rows])), np.ones(len(rows))
        result = learn_at_kernel(engine, noise, labels, crowd, sites, learner)
        result = finish(engine, noise, labels, result, learner)
        return _dense_state(X, rows, labels, kernel, replace(result, turned=turned or result.turned))
    members = previous[0].members if previous and active.refit else None
    start = (crowd, sites, members)
    return _active_state(X, rows, labels, kernel, start, active, learner, run, plan.seed, turned)


def _guessed_sites(X: Floats, some: Codes, labels: CrowdLabels, kernel: Kernel, result: LearnedCrowd) -> Sites:
    """Sites of all labelled items to begin with, when those of some are known."""
    found = result.propagated
    mean, variance = DenseField(X[some], kernel, found.posterior).predict(X)
    guess = update_sites(mean, variance, np.ones(len(X)), evidence_of(labels, result.crowd))
    precision, shift = guess.precision, guess.shift
    precision[some], shift[some] = found.sites.precision, found.sites.shift
    return Sites(precision, shift)


def _nothing(count: int, rows: Codes, labels: CrowdLabels, crowd: CrowdPosterior, kernel: Kernel) -> State:
    zeros = np.zeros(count)
    return State(rows, labels, crowd, kernel, zeros, zeros, np.empty(0), None, None, 0.0, True, False)


def _dense_state(X: Floats, rows: Codes, labels: CrowdLabels, kernel: Kernel, result: LearnedCrowd) -> State:
    found = result.propagated
    field = DenseField(X[rows], kernel, found.posterior)
    return _state(len(X), rows, rows, labels, kernel, result, found.update.z, field, None)


def _active_state(
    X: Floats, rows: Codes, labels: CrowdLabels, kernel: Kernel, start: tuple[CrowdPosterior, Sites, Codes | None],
    active: ActiveSet, learner: Learner, run: Iterations, seed: int, turned: bool,
) -> State:  # fmt: skip
    crowd, sites, members = start
    XL = X[rows]
    if members is None:
        chosen, turned_now = select(XL, kernel, labels, crowd, active, learner, np.random.default_rng([seed, 1]))
        turned |= turned_now
        members, crowd = rows[chosen.members], chosen.crowd
        if not active.refit:
            result = result_of(chosen, turned)
            mean, variance = chosen.moments(np.arange(len(rows)))
            z = mean / np.sqrt(variance + 1.0)
            return _state(len(X), rows, members, labels, kernel, result, z, chosen.field, members)
        run.bounds.clear()
        sites = Sites.none(len(rows))
    result, field = refit_all(XL, X[members], kernel, labels, crowd, sites, learner)
    result = replace(result, turned=turned or result.turned)
    return _state(len(X), rows, rows, labels, kernel, result, result.propagated.update.z, field, members)


def _state(
    count: int, rows: Codes, sited: Codes, labels: CrowdLabels, kernel: Kernel, result: LearnedCrowd, z: Floats,
    field: DenseField | FactorField, members: Codes | None,
) -> State:  # fmt: skip
    found = result.propagated
    precision, shift = np.zeros(count), np.zeros(count)
    precision[sited], shift[sited] = found.sites.precision, found.sites.shift
    return State(
        rows, labels, result.crowd, kernel, precision, shift, z, field, members, found.log_evidence,
        result.converged, result.turned,
    )  # fmt: skip
