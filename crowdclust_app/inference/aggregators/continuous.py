"""Labels that are measurements: a weighted mean a task, a precision a worker (raykar2009 section 8.3)."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence

import numpy as np

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.base import Aggregator
from crowdclust_app.inference.aggregators.columns import number_of
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_table import Floats, LabelTable, weighted_sums

# Labels that the pooled variance counts for in a worker's precision: one label alone says nothing of its worker.
_PRIOR_LABELS = 1.0


class Continuous(Aggregator):
    """Every label is the task's value plus noise of its worker's precision (raykar2009, section 8.3).

    Values and precisions are estimated in turn (mean field), so that a worker who alone labelled a task does not become
    infinitely precise: the spread of the task's value counts. `prior`, `prevalence`, `ties` and `classes` play no part.

    Attributes
    ----------
    values_, values_sd_ : ndarray of shape (M,)
        Posterior mean and standard deviation of each task; NaN without labels.
    precision_, precision_sd_ : ndarray of shape (J,)
        Posterior mean and standard deviation of each worker's precision (one over the variance).
    labels_ : ndarray of shape (M,)
        The values; None without labels.

    Examples
    --------
    >>> labels = {"task": [1, 1, 1, 2, 2, 2], "worker": list("abcabc"), "label": [1.0, 1.2, 3.0, 5.0, 5.2, 4.0]}
    >>> measured = Continuous().fit(labels)
    >>> measured.values_.round(1).tolist(), measured.precision_.round(1).tolist()
    ([1.3, 5.0], [2.3, 2.4, 0.6])
    """

    name = "continuous"
    fewest_classes = 1
    most_classes = None

    def fit_run(self, table: LabelTable, run: Iterations) -> None:
        """Infer values and precisions."""
        begin = time.perf_counter()
        numbers = [number_of(value) for value in table.classes]
        if any(number is None for number in numbers):
            name = table.classes[numbers.index(None)]
            raise InvalidInputError(f"continuous needs numbers and a label is {name}", todo="take a method for classes")
        rows = table.canonical
        labels = np.array(numbers, dtype=np.float64)[rows.label]
        self._alternate(table, rows, labels, run)
        self._describe(table, run)
        self.seconds_ = time.perf_counter() - begin

    def _alternate(self, table: LabelTable, rows: LabelTable, labels: Floats, run: Iterations) -> None:
        counts, tasks, workers = table.task_counts, table.n_tasks, table.n_workers
        # around their mean, so that large values lose no digits
        centre = float(labels.mean())
        labels = labels - centre
        scale = float(labels.var()) or 1.0
        means = weighted_sums(rows.task, labels, tasks) / np.maximum(counts, 1)
        spread = float(((labels - means[rows.task]) ** 2).sum())
        freedom = len(labels) - int((counts > 0).sum())
        pooled = max(spread / freedom if freedom else scale, 1e-12 * scale)
        precision = np.full(workers, 1.0 / pooled)
        going = True
        while going:
            weight = precision[rows.worker]
            total = weighted_sums(rows.task, weight, tasks)
            safe = np.where(counts > 0, total, 1.0)
            before = means
            means = weighted_sums(rows.task, weight * labels, tasks) / safe
            variance = 1.0 / safe
            squares = (labels - means[rows.task]) ** 2 + variance[rows.task]
            error = weighted_sums(rows.worker, squares, workers)
            shape = _PRIOR_LABELS + table.worker_counts
            older, precision = precision, shape / (_PRIOR_LABELS * pooled + error)
            moved = float(np.abs(means - before).max()) / np.sqrt(scale)
            going = run.step(max(moved, float(np.abs(np.log(precision / older)).max())))
        labelled = counts > 0
        self.values_ = np.where(labelled, means + centre, np.nan)
        self.values_sd_ = np.where(labelled, np.sqrt(variance), np.nan)
        self.precision_ = precision
        self.precision_sd_ = precision * np.sqrt(2.0 / shape)

    def _describe(self, table: LabelTable, run: Iterations) -> None:
        """Fill in the fields that every method has; what is about classes stays empty."""
        self.classes_: tuple[Hashable, ...] = ()
        self.probabilities_ = np.zeros((table.n_tasks, 0))
        self.prevalence_ = np.zeros(0)
        self._describe_table(table, run)
        self.codes_ = np.full(table.n_tasks, -1, dtype=np.int64)
        self.ties_ = np.zeros(table.n_tasks, dtype=bool)
        self.tied_classes_ = np.zeros((table.n_tasks, 0), dtype=bool)
        self.labels_ = np.array([None if np.isnan(value) else float(value) for value in self.values_], dtype=object)
        unknown = np.full(table.n_workers, np.nan)
        self.accuracy_ = self.accuracy_sd_ = unknown
        self.sensitivity_ = self.sensitivity_sd_ = self.specificity_ = self.specificity_sd_ = unknown
        self.notes_ = () if self.converged_ else (f"did not converge in {self.n_iterations_} iterations",)

    def predict_proba(self, tasks: Sequence[Hashable] | None = None) -> Floats:
        """Refuse: a measurement has no classes (see `values_sd_`)."""
        raise InvalidInputError(
            "continuous gives values and no class probabilities", todo="take predict and values_sd_"
        )
