"""A confusion matrix a worker: the two-coin models for two classes, Dawid-Skene for any number.

Liu2012 section 3.1.2, raykar2009 sections 4-6 and 8.1. All alternate between the workers' matrices and the tasks'
classes; they differ in the pseudo-counts that stand for the prior, and in taking a matrix at a point or in expectation.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.base import MOST_CELLS, Aggregator
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import LabelPosterior, normalise
from crowdclust_app.inference.aggregators.label_table import Floats, LabelTable, weighted_sums
from crowdclust_app.inference.aggregators.one_coin import EM_MARGIN


class _Confusion(Aggregator):
    """Alternates between the workers' confusion matrices and the tasks' classes."""

    coins = 2
    _exact: ClassVar[bool] = False
    _kind: ClassVar[str] = "mean"
    # ends when the bound rises by less than the tolerance a label, as is usual for Dawid-Skene: the likelihood of
    # workers with few labels is flat, and some task moves on for hundreds of iterations that decide nothing
    _by_gain: ClassVar[bool] = False

    def _validate(self, table: LabelTable) -> None:
        super()._validate(table)
        if table.n_workers * table.n_classes**2 > MOST_CELLS:
            what = f"{self.name} needs a matrix a worker, too large with {table.n_classes:,} classes"
            raise InvalidInputError(what, todo="take em or majority")

    def _pseudo_counts(self, classes: int) -> Floats:
        """Counts of each answer (column) for each true class (row) that stand for the prior."""
        right, wrong = self._beta
        if self._kind == "mode":
            # the mode of a posterior exists for priors from 1 on; smaller ones are taken as 1
            right, wrong = max(right - 1.0, 0.0) + EM_MARGIN, max(wrong - 1.0, 0.0) + EM_MARGIN
        elif self._kind == "unit":
            share = right / (right + wrong)
            right, wrong = share, (1.0 - share) / max(classes - 1, 1)
        counts = np.full((classes, classes), wrong)
        np.fill_diagonal(counts, right)
        return counts

    def _log_confusion(self, counts: Floats, pseudo: Floats) -> tuple[Floats, float]:
        """Log of each worker's matrix, shape (K, K, J), and the prior's part of the objective."""
        prior = pseudo[:, :, None]
        posterior = counts + prior
        if not self._exact:
            logs = np.log(posterior / posterior.sum(axis=1, keepdims=True))
            return logs, float((prior * logs).sum())
        # most methods need no SciPy
        from scipy.special import digamma, gammaln

        logs = digamma(posterior) - digamma(posterior.sum(axis=1, keepdims=True))
        normaliser = gammaln(posterior).sum(axis=1) - gammaln(posterior.sum(axis=1))
        of_prior = gammaln(prior).sum(axis=1) - gammaln(prior.sum(axis=1))
        return logs, float((normaliser - of_prior).sum() - (counts * logs).sum())

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        # The classes of a task sum to 1 and only their ratios matter: one class less is summed over the labels, which
        # takes most of the time. Arrays are by true class, answer and worker: sums over short rows are slow.
        rows = table.canonical
        size, workers = table.n_classes, table.n_workers
        prevalence, estimated = self._start_prevalence(table)
        labelled = np.flatnonzero(table.task_counts) if (table.task_counts == 0).any() else slice(None)
        posterior = np.asfortranarray(self._start_shares(table))
        pseudo = self._pseudo_counts(size)
        cells = rows.label * workers + rows.worker
        given = np.bincount(cells, minlength=workers * size).reshape(size, workers).astype(np.float64)
        counts = np.empty((size, size, workers))
        ratios = np.zeros((size, table.n_tasks)).T
        bound = -np.inf
        going = True
        while going:
            for true in range(1, size):
                found = weighted_sums(cells, posterior[:, true].take(rows.task), workers * size)
                counts[true] = found.reshape(size, workers)
            np.maximum(given - counts[1:].sum(axis=0), 0.0, out=counts[0])
            log_confusion, gain = self._log_confusion(counts, pseudo)
            if estimated:
                prevalence = np.maximum(posterior[labelled].mean(axis=0), 1e-12)
            for true in range(1, size):
                against_first = (log_confusion[true] - log_confusion[0]).take(cells)
                ratios[:, true] = weighted_sums(rows.task, against_first, table.n_tasks)
            normalised, total = normalise(ratios + np.log(prevalence))
            before, posterior = posterior, np.exp(normalised)
            change = float(np.abs(posterior - before)[labelled].max())
            previous, bound = bound, float(total.sum() + (given * log_confusion[0]).sum()) + gain
            if self._by_gain:
                change = min(change, abs(bound - previous) / table.n_labels)
            going = run.step(change, bound)
        posterior = (counts + pseudo[:, :, None]).transpose(2, 0, 1)
        extras = {"confusion_": np.ascontiguousarray(posterior / posterior.sum(axis=2, keepdims=True))}
        return LabelPosterior(normalised, prevalence, extras)


class TwoCoinEM(_Confusion):
    """Sensitivity and specificity at the mode of their posteriors, by EM (liu2012, section 3.1.2).

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> fitted = TwoCoinEM().fit(*votes)
    >>> fitted.predict().tolist(), fitted.sensitivity_.round(2).tolist()
    ([1, 0, 1], [0.8, 0.8, 0.6])
    """

    name = "em2"
    _kind = "mode"


class TwoCoinApproximateMeanField(_Confusion):
    """Sensitivity and specificity at the mean of their posteriors (liu2012, section 3.1.2).

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> fitted = TwoCoinApproximateMeanField().fit(*votes)
    >>> fitted.predict().tolist(), fitted.sensitivity_.round(2).tolist()
    ([1, 0, 1], [0.77, 0.77, 0.63])
    """

    name = "amf2"


class TwoCoinMeanField(_Confusion):
    """Sensitivity and specificity in expectation; the lower bound never falls (liu2012, section 3.1.2).

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> fitted = TwoCoinMeanField().fit(*votes)
    >>> fitted.predict().tolist(), fitted.sensitivity_.round(2).tolist()
    ([1, 0, 1], [0.79, 0.79, 0.61])
    """

    name = "mf2"
    compiled = True
    _exact = True


class DawidSkene(_Confusion):
    """Dawid and Skene's EM (dawid1979): any number of classes, prevalence estimated.

    Each row of a worker's matrix starts with one label in all, shared out as the prior's mean says: right with
    `alpha / (alpha + beta)`, the rest in equal parts over the wrong answers. That is the information of a single label,
    which decides for workers with few and is nothing beside many; without it (maximum likelihood) the one label of a
    worker who gave no other is certainty.

    Examples
    --------
    >>> said = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), list("xxyyyyzzx")
    >>> fitted = DawidSkene().fit(*said)
    >>> fitted.predict().tolist(), fitted.accuracy_.round(2).tolist()
    (['x', 'y', 'z'], [0.83, 0.83, 0.5])
    """

    name = "dawid-skene"
    most_classes = None
    estimates_prevalence = True
    _kind = "unit"
    _by_gain = True


class DawidSkeneMAP(_Confusion):
    """Dawid and Skene's model at the mode of the posterior (raykar2009): `alpha` on the diagonal, `beta` beside it.

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> DawidSkeneMAP(prior=(3.0, 2.0)).fit(*votes).predict_proba().round(2).tolist()
    [[0.07, 0.93], [0.61, 0.39], [0.03, 0.97]]
    """

    name = "dawid-skene-map"
    most_classes = None
    estimates_prevalence = True
    _kind = "mode"
    _by_gain = True
