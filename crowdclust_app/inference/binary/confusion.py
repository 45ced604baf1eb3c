"""A confusion matrix a worker: the two-coin models for two classes, Dawid-Skene for any number.

Liu2012 section 3.1.2, raykar2009 sections 4-6 and 8.1. All alternate between the workers' matrices and the tasks'
classes; they differ in the pseudo-counts that stand for the prior, and in taking a matrix at a point or in expectation.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from crowdclust_app.domain.errors import UserError
from crowdclust_app.inference.binary.base import MOST_CELLS, Aggregator
from crowdclust_app.inference.binary.onecoin import EM_MARGIN
from crowdclust_app.inference.binary.posterior import Posterior, normalise
from crowdclust_app.inference.binary.running import Run
from crowdclust_app.inference.binary.table import Floats, LabelTable, weighted_sums

# A count that keeps the logarithm of an answer never seen finite; nothing else notices it.
_TINY = 1e-10
# What maximum likelihood starts a worker with for each class: less than a third of a right answer. Without it the one
# label of a worker who gave no other is certainty; with it nothing changes for workers with more than a few.
_BENEFIT_OF_DOUBT = 0.3


class _Confusion(Aggregator):
    """Alternates between the workers' confusion matrices and the tasks' classes."""

    _exact: ClassVar[bool] = False
    _kind: ClassVar[str] = "mean"
    # ends when the bound rises by less than the tolerance a label, as is usual for Dawid-Skene: the likelihood of
    # workers with few labels is flat, and some task moves on for hundreds of iterations that decide nothing
    _by_gain: ClassVar[bool] = False

    def _validate(self, table: LabelTable) -> None:
        super()._validate(table)
        if table.n_workers * table.n_classes**2 > MOST_CELLS:
            what = f"{self.name} needs a matrix a worker, too large with {table.n_classes:,} classes"
            raise UserError(what, todo="take em or majority")

    def _pseudo_counts(self, classes: int) -> Floats:
        """Counts of each answer (column) for each true class (row) that stand for the prior."""
        alpha, beta = (_BENEFIT_OF_DOUBT, _TINY) if self._kind == "none" else self._beta
        if self._kind == "mode":
            # the mode of a posterior exists for priors from 1 on; smaller ones are taken as 1
            alpha, beta = max(alpha - 1.0, 0.0) + EM_MARGIN, max(beta - 1.0, 0.0) + EM_MARGIN
        counts = np.full((classes, classes), beta)
        np.fill_diagonal(counts, alpha)
        return counts

    def _log_confusion(self, counts: Floats, pseudo: Floats) -> tuple[Floats, float]:
        """Log of each worker's matrix, shape (J, K, K), and the prior's part of the objective."""
        posterior = counts + pseudo
        if not self._exact:
            logs = np.log(posterior / posterior.sum(axis=2, keepdims=True))
            return logs, float((pseudo * logs).sum())
        from scipy.special import digamma, gammaln

        logs = digamma(posterior) - digamma(posterior.sum(axis=2, keepdims=True))
        normaliser = gammaln(posterior).sum(axis=2) - gammaln(posterior.sum(axis=2))
        of_prior = gammaln(pseudo).sum(axis=1) - gammaln(pseudo.sum(axis=1))
        return logs, float((normaliser - of_prior).sum() - (counts * logs).sum())

    def _infer(self, table: LabelTable, run: Run) -> Posterior:
        rows = table.canonical
        size = table.n_classes
        prevalence, estimated = self._start_prevalence(table)
        labelled = table.task_counts > 0
        beliefs = self._start_shares(table)
        pseudo = self._pseudo_counts(size)
        cells = rows.worker * size + rows.label
        counts = np.empty((table.n_workers, size, size))
        logs = np.empty((table.n_tasks, size))
        bound = -np.inf
        going = True
        while going:
            for true in range(size):
                weights = beliefs[rows.task, true]
                found = weighted_sums(cells, weights, table.n_workers * size)
                counts[:, true, :] = found.reshape(table.n_workers, size)
            log_confusion, gain = self._log_confusion(counts, pseudo)
            if estimated:
                prevalence = np.maximum(beliefs[labelled].mean(axis=0), 1e-12)
            for true in range(size):
                weights = np.ascontiguousarray(log_confusion[:, true, :]).ravel()[cells]
                logs[:, true] = weighted_sums(rows.task, weights, table.n_tasks)
            logs += np.log(prevalence)
            normalised, total = normalise(logs)
            before, beliefs = beliefs, np.exp(normalised)
            change = float(np.abs(beliefs - before)[labelled].max())
            previous, bound = bound, float(total.sum()) + gain
            if self._by_gain:
                change = min(change, abs(bound - previous) / table.n_labels)
            going = run.step(change, bound)
        posterior = counts + pseudo
        extras = {"confusion_": posterior / posterior.sum(axis=2, keepdims=True)}
        return Posterior(normalised, prevalence, extras)


class TwoCoinEM(_Confusion):
    """Sensitivity and specificity at the mode of their posteriors."""

    name = "em2"
    _kind = "mode"


class TwoCoinApproximateMeanField(_Confusion):
    """Sensitivity and specificity at the mean of their posteriors."""

    name = "amf2"


class TwoCoinMeanField(_Confusion):
    """Sensitivity and specificity in expectation; the lower bound never falls."""

    name = "mf2"
    compiled = True
    _exact = True


class DawidSkene(_Confusion):
    """Dawid and Skene's EM: any number of classes, prevalence estimated.

    Maximum likelihood but for a trace of trust (0.3 of a right answer a class) that decides what their labels do not
    about workers with very few.
    """

    name = "dawid-skene"
    most_classes = None
    estimates_prevalence = True
    _kind = "none"
    _by_gain = True


class DawidSkeneMAP(_Confusion):
    """Dawid and Skene's model at the mode of the posterior: `alpha` on the diagonal, `beta` beside it."""

    name = "dawid-skene-map"
    most_classes = None
    estimates_prevalence = True
    _kind = "mode"
    _by_gain = True
