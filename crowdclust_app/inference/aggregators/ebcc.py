"""Enhanced Bayesian classifier combination (li2019): correlated errors, by kinds of tasks within a class."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.base import MOST_CELLS, Aggregator, Common
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import LabelPosterior, normalise
from crowdclust_app.inference.aggregators.label_table import Codes, Floats, LabelTable

# Expected tasks below which a subtype has died out: its weight has fallen by some hundred orders of magnitude.
_DEAD = 1e-12
# Starts, unless more labels than this have to be gone through in all; the least there are.
_STARTS, _LABELS, _FEWEST = 40, 4_000_000, 4


class EBCC(Aggregator):
    """Dawid-Skene's model with each class a mixture of subtypes, in mean field (li2019).

    Given its class and subtype the labels of a task are independent; given the class alone they are not: some tasks of
    a class mislead the same workers. A worker has a confusion matrix for each subtype, with `alpha` on the diagonal and
    `beta` beside it as prior counts; few subtypes survive. The posterior has many modes: of several starts the one with
    the highest lower bound is taken. As in the authors' experiments the prior of the prevalence counts every task once,
    shared out by its votes; a prevalence that is set is kept.

    Parameters
    ----------
    subtypes
        Of each class at first.
    concentration
        Dirichlet counts of a class's subtypes in all; below one, few are used.
    n_starts
        How many starts, each sharing out the votes of a class over the subtypes at random. None is the authors' 40 up
        to 100,000 labels, and fewer beyond (4 from a million on).
    prior
        As everywhere, but None is the authors' 4 and 1.

    Attributes
    ----------
    subtypes_ : ndarray of shape (S,)
        Expected number of tasks of each subtype that is left.
    subtype_classes_ : ndarray of shape (S,)
        Its class.
    start_bounds_ : ndarray
        Lower bound that each start ended at.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> data = cc.simulate_labels(100, seed=1)
    >>> found = EBCC(n_starts=5).fit(data.labels)
    >>> bool((found.predict() == data.truth.loc[list(found.tasks_)].to_numpy()).mean() > 0.8)
    True
    >>> bool(found.lower_bounds_[-1] == found.start_bounds_.max())
    True
    """

    name = "ebcc"
    coins = 2
    most_classes = None
    estimates_prevalence = True
    compiled = True
    usual_iterations = 500
    usual_prior = (4.0, 1.0)

    def __init__(
        self, *, subtypes: int = 10, concentration: float = 0.1, n_starts: int | None = None, **common: Unpack[Common]
    ) -> None:
        super().__init__(**common)
        self.subtypes = subtypes
        self.concentration = concentration
        self.n_starts = n_starts

    def _validate(self, table: LabelTable) -> None:
        super()._validate(table)
        if (
            self.subtypes < 1
            or (self.n_starts is not None and self.n_starts < 1)
            or not 0 < self.concentration < np.inf
        ):
            raise InvalidInputError("subtypes, concentration or n_starts is out of range", todo="take 10, 0.1 and 40")
        cells = table.n_classes * self.subtypes * max(table.n_tasks, table.n_workers * table.n_classes)
        if cells > MOST_CELLS:
            what = f"ebcc needs {cells:,} probabilities for these labels, too many"
            raise InvalidInputError(what, todo="set fewer subtypes, or take dawid-skene or mf")

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        # most methods need no SciPy
        from scipy.sparse import csr_array

        rows = table.canonical
        columns = rows.label * table.n_workers + rows.worker
        shape = (table.n_tasks, table.n_classes * table.n_workers)
        answers = csr_array((np.ones(table.n_labels), (rows.task, columns)), shape=shape)
        prevalence, estimated = self._start_prevalence(table)
        shares = self._start_shares(table)
        # a class without votes is as good as impossible
        counts = np.maximum(shares[table.task_counts > 0].sum(axis=0), 1e-9) if estimated else None
        fits: list[tuple[Iterations, _Start]] = []
        bounds = []
        quiet = run.again(quiet=True)
        fewer = max(_FEWEST, min(_STARTS, _LABELS // table.n_labels))
        run.max_iterations = fewer if self.n_starts is None else self.n_starts
        rng = np.random.default_rng(self.seed)
        for _ in range(run.max_iterations):
            start = _Start(self, table, rng, shares)
            each = quiet.again(quiet=True)
            going = True
            while going:
                change, bound = start.step(answers, counts, np.log(prevalence))
                # as for Dawid-Skene: some task may move on for hundreds of iterations that decide nothing
                gain = abs(bound - each.bounds[-1]) / table.n_labels if each.bounds else np.inf
                going = each.step(min(change, gain), bound)
            bounds.append(each.bounds[-1])
            if bounds[-1] == max(bounds):
                fits = [(each, start)]
            run.step(0.0)
        each, best = fits[0]
        run.iterations, run.converged, run.bounds = each.iterations, each.converged, each.bounds
        extras = {
            "subtypes_": best.members.sum(axis=0),
            "subtype_classes_": best.classes,
            "start_bounds_": np.array(bounds),
        }
        logs = best.log_classes()
        if counts is not None:
            prevalence = counts + np.exp(logs)[table.task_counts > 0].sum(axis=0)
            prevalence = prevalence / prevalence.sum()
        return LabelPosterior(logs, prevalence, extras)


class _Start:
    """One run from one start: the probability `members` of each class and subtype of every task."""

    def __init__(self, method: EBCC, table: LabelTable, rng: np.random.Generator, shares: Floats) -> None:
        size = table.n_classes
        self.labelled = table.task_counts > 0
        self.classes: Codes = np.repeat(np.arange(size), method.subtypes)
        split = rng.dirichlet(np.ones(method.subtypes), (table.n_tasks, size))
        # tasks without labels are no evidence of any class
        members = (split * shares[:, :, None]).reshape(table.n_tasks, -1)
        self.members: Floats = np.where(self.labelled[:, None], members, 0.0)
        self.logs: Floats = np.empty(0)
        self.each = method.concentration / method.subtypes
        self.all = method.concentration
        right, wrong = method._beta
        self.matrix = np.full((size, size), wrong)
        np.fill_diagonal(self.matrix, right)

    def step(self, answers: Any, class_counts: Floats | None, log_prevalence: Floats) -> tuple[float, float]:
        """One round over subtypes and tasks; the largest change of a probability, and the lower bound."""
        # most methods need no SciPy
        from scipy.special import digamma, gammaln

        size = len(self.matrix)
        found = self.members.sum(axis=0)
        alive = found > _DEAD
        if not alive.all():
            self.members, self.classes, found = self.members[:, alive], self.classes[alive], found[alive]
        # of each class
        total = np.bincount(self.classes, found, size)
        posterior, of_class = self.each + found, self.all + total
        log_subtype = digamma(posterior) - digamma(of_class)[self.classes]
        loss = (gammaln(of_class) - gammaln(self.all)).sum() - (gammaln(posterior) - gammaln(self.each)).sum()
        loss += (found * log_subtype).sum()
        if class_counts is None:
            log_class = log_prevalence
        else:
            start, after = class_counts, class_counts + total
            log_class = digamma(after) - digamma(after.sum())
            loss += gammaln(after.sum()) - gammaln(after).sum() - gammaln(start.sum()) + gammaln(start).sum()
            loss += (total * log_class).sum()
        # counts of each answer (first axis), worker and subtype
        prior = self.matrix.T[:, None, self.classes]
        given = np.asarray(answers.T @ self.members).reshape(size, -1, len(self.classes))
        counts = given + prior
        both = counts.sum(axis=0)
        log_confusion = digamma(counts) - digamma(both)
        row = self.matrix.sum(axis=1)[self.classes]
        loss += (gammaln(both) - gammaln(row)).sum() - (gammaln(counts) - gammaln(prior)).sum()
        loss += (given * log_confusion).sum()
        logs = np.asarray(answers @ log_confusion.reshape(-1, len(self.classes)))
        logs, normaliser = normalise(logs + log_subtype + log_class[self.classes])
        self.logs = logs
        before, self.members = self.members, np.where(self.labelled[:, None], np.exp(logs), 0.0)
        change = float(np.abs(self._of_classes(self.members) - self._of_classes(before)).max())
        return change, float(normaliser[self.labelled].sum() - loss)

    def _of_classes(self, of_subtypes: Floats) -> Floats:
        """Sums over the subtypes of each class; shape (M, K)."""
        sums = [of_subtypes[:, self.classes == k].sum(axis=1) for k in range(len(self.matrix))]
        return np.stack(sums, axis=1)

    def log_classes(self) -> Floats:
        """Log-probability of each class of every task, those without labels too; shape (M, K)."""
        logs = np.full((len(self.logs), len(self.matrix)), -np.inf)
        for k in sorted(set(self.classes.tolist())):
            logs[:, k] = np.logaddexp.reduce(self.logs[:, self.classes == k], axis=1)
        return logs
