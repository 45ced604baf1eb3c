"""One coin a worker: EM, approximate and exact mean field (liu2012 equations 1, 9-11).

A worker is right with one probability whatever the class; a wrong answer is any other class with equal probability,
which for two classes is the papers' model.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from crowdclust_app.inference.aggregators.base import Aggregator
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import LabelPosterior, normalise
from crowdclust_app.inference.aggregators.label_table import Codes, Floats, LabelTable, weighted_sums

# Liu adds this to alpha and beta of EM, so that an accuracy never sticks at 0 or 1.
EM_MARGIN = 1e-3


class _OneCoin(Aggregator):
    """Alternates between the workers' coins and the tasks' classes."""

    most_classes = None
    _exact: ClassVar[bool] = False
    _mode: ClassVar[bool] = False

    def _pseudo_counts(self) -> tuple[float, float]:
        """Counts of right and wrong answers that stand for the prior."""
        alpha, beta = self._beta
        if not self._mode:
            return alpha, beta
        # the mode of a Beta posterior exists for priors from 1 on; smaller ones are taken as 1
        return max(alpha - 1.0, 0.0) + EM_MARGIN, max(beta - 1.0, 0.0) + EM_MARGIN

    def _coins(self, right: Floats, counts: Codes) -> tuple[Floats, Floats, float]:
        """Log-probabilities of a right and of a wrong answer, and the prior's part of the objective."""
        a0, b0 = self._pseudo_counts()
        a, b = right + a0, np.maximum(counts - right, 0.0) + b0
        if not self._exact:
            log_right, log_wrong = np.log(a / (a + b)), np.log(b / (a + b))
            return log_right, log_wrong, float((a0 * log_right + b0 * log_wrong).sum())
        # most methods need no SciPy
        from scipy.special import betaln, digamma

        both = digamma(a + b)
        log_right, log_wrong = digamma(a) - both, digamma(b) - both
        # minus the divergence of each coin's posterior from its prior
        gain = betaln(a, b) - betaln(a0, b0) + (a0 - a) * log_right + (b0 - b) * log_wrong
        return log_right, log_wrong, float(gain.sum())

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        rows = table.canonical
        prevalence, estimated = self._start_prevalence(table)
        labelled = table.task_counts > 0
        posterior = self._start_shares(table)
        others = np.log(table.n_classes - 1.0)
        cells = rows.task * table.n_classes + rows.label
        going = True
        while going:
            right = weighted_sums(rows.worker, posterior[rows.task, rows.label], table.n_workers)
            log_right, log_wrong, gain = self._coins(right, table.worker_counts)
            log_wrong = log_wrong - others
            if estimated:
                prevalence = np.maximum(posterior[labelled].mean(axis=0), 1e-12)
            logs = weighted_sums(cells, (log_right - log_wrong)[rows.worker], table.votes.size)
            missed = weighted_sums(rows.task, log_wrong[rows.worker], table.n_tasks)
            logs = logs.reshape(table.votes.shape) + missed[:, None] + np.log(prevalence)
            logs, total = normalise(logs)
            before, posterior = posterior, np.exp(logs)
            going = run.step(float(np.abs(posterior - before)[labelled].max()), float(total.sum()) + gain)
        return LabelPosterior(logs, prevalence)


class EM(_OneCoin):
    """Expectation maximisation: each coin at the mode of its posterior (liu2012, equation 1).

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> fitted = EM().fit(*votes)
    >>> fitted.predict().tolist(), fitted.accuracy_.round(2).tolist()
    ([1, 0, 1], [0.83, 0.83, 0.5])
    """

    name = "em"
    _mode = True


class ApproximateMeanField(_OneCoin):
    """Mean field to first order: each coin at the mean of its posterior (liu2012, equation 11).

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> fitted = ApproximateMeanField().fit(*votes)
    >>> fitted.predict().tolist(), fitted.accuracy_.round(2).tolist()
    ([1, 0, 1], [0.81, 0.81, 0.51])
    """

    name = "amf"


class MeanField(_OneCoin):
    """Exact mean field; its lower bound never falls (liu2012, equations 9 and 10).

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> fitted = MeanField().fit(*votes)
    >>> fitted.predict_proba().round(2).tolist()
    [[0.02, 0.98], [0.98, 0.02], [0.02, 0.98]]
    >>> fitted.lower_bounds_[0] < fitted.lower_bounds_[-1]
    True
    """

    name = "mf"
    compiled = True
    _exact = True
