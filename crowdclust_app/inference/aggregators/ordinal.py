"""Ordered classes as a row of yes/no questions: is it above this class? (raykar2009 section 8.2)"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.base import Aggregator
from crowdclust_app.inference.aggregators.columns import number_of
from crowdclust_app.inference.aggregators.confusion_matrices import TwoCoinEM
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import LabelPosterior
from crowdclust_app.inference.aggregators.label_table import Floats, LabelTable


class Ordinal(Aggregator):
    """`K - 1` two-coin problems, one a boundary between neighbouring classes (raykar2009, section 8.2).

    The order is that of `classes`, or by value when all classes are numbers.

    Attributes
    ----------
    above_ : ndarray of shape (M, K - 1)
        Probability that each task is above each class but the last; never rising along a row.
    boundary_sensitivity_, boundary_specificity_ : ndarray of shape (J, K - 1)
        Of each worker at each boundary.

    Examples
    --------
    >>> labels = {
    ...     "task": [1, 1, 2, 2, 3, 3],
    ...     "worker": list("ababab"),
    ...     "label": ["low", "low", "high", "middle", "high", "high"],
    ... }
    >>> list(Ordinal(classes=["low", "middle", "high"]).fit_predict(labels))
    ['low', 'high', 'high']
    """

    name = "ordinal"
    coins = 2
    most_classes = None
    estimates_prevalence = True

    def _validate(self, table: LabelTable) -> None:
        super()._validate(table)
        numbers = all(number_of(value) is not None for value in table.classes)
        if table.n_classes > 2 and self.classes is None and not numbers:
            raise InvalidInputError(
                "ordinal needs ordered classes and these are names", todo="declare the classes in order"
            )

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        prevalence, estimated = self._start_prevalence(table)
        size = table.n_classes
        above = np.empty((table.n_tasks, size - 1))
        sensitivity = np.empty((table.n_workers, size - 1))
        specificity = np.empty((table.n_workers, size - 1))
        iterations, converged = 0, True
        for boundary in range(size - 1):
            asked = replace(table, classes=("not above", "above"), label=(table.label > boundary).astype(np.int64))
            share = float(prevalence[boundary + 1 :].sum())
            question = TwoCoinEM(
                prior=self._prior,
                prevalence="auto" if estimated else min(max(share, 1e-12), 1.0 - 1e-12),
                max_iterations=run.max_iterations,
                tolerance=self.tolerance,
            )
            question.fit_run(asked, run.again())
            above[:, boundary] = question.probabilities_[:, 1]
            sensitivity[:, boundary] = question.sensitivity_
            specificity[:, boundary] = question.specificity_
            iterations, converged = max(iterations, question.n_iterations_), converged and question.converged_
        run.iterations, run.converged = iterations, converged
        above = np.minimum.accumulate(above, axis=1)
        probabilities = _differences(above)
        if estimated:
            prevalence = np.maximum(probabilities[table.task_counts > 0].mean(axis=0), 1e-12)
        extras = {"above_": above, "boundary_sensitivity_": sensitivity, "boundary_specificity_": specificity}
        with np.errstate(divide="ignore"):
            return LabelPosterior(np.log(probabilities), prevalence, extras)


def _differences(above: Floats) -> Floats:
    """Probability of each class from those of being above each boundary."""
    count = len(above)
    bounded = np.concatenate([np.ones((count, 1)), above, np.zeros((count, 1))], axis=1)
    probabilities = np.maximum(-np.diff(bounded, axis=1), 0.0)
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))
