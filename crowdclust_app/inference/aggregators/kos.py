"""KOS: message passing without a prior (liu2012 equation 2), plain and normalised by degree."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from crowdclust_app.inference.aggregators.base import Aggregator
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import LabelPosterior, log_odds_to_log_probabilities
from crowdclust_app.inference.aggregators.label_table import Floats, LabelTable, weighted_sums


class KOS(Aggregator):
    """The algorithm of karger2011: ten rounds, started from messages of one, which is majority voting.

    Messages are divided by their root mean square every round, which changes nothing but their size. The scores are no
    log-odds: `probabilities_` rank the tasks and are not calibrated.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> data = cc.simulate_labels(100, seed=1)
    >>> found = cc.KOS().fit(data.labels)
    >>> bool((found.predict() == data.truth.loc[list(found.tasks_)].to_numpy()).mean() > 0.8)
    True
    """

    name = "kos"
    # on graphs with loops more rounds only let the busiest workers take over
    usual_iterations = 10
    fixed_rounds = True
    _normalised: ClassVar[bool] = False

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        edges = table.edges
        sign = (edges.ones - edges.zeros).astype(np.float64)
        of_task = np.maximum(np.bincount(edges.task, minlength=table.n_tasks) - 1, 1)[edges.task]
        of_worker = np.maximum(np.diff(edges.pointers) - 1, 1)[edges.worker]
        from_worker = np.ones_like(sign)
        going = True
        while going:
            to_worker = self._others(edges.task, sign * from_worker, table.n_tasks)
            if self._normalised:
                to_worker = to_worker / of_task
            before = from_worker
            from_worker = self._others(edges.worker, sign * to_worker, table.n_workers)
            if self._normalised:
                from_worker = from_worker / of_worker
            size = float(np.sqrt(np.mean(from_worker**2)))
            # where no two labels connect nothing was learnt of any worker, and all count the same
            from_worker = from_worker / size if size > 1e-12 else np.ones_like(sign)
            going = run.step(float(np.abs(from_worker - before).max()))
        scores = weighted_sums(edges.task, sign * from_worker, table.n_tasks)
        size = float(np.sqrt(np.mean(scores[table.task_counts > 0] ** 2)))
        scores = scores / size if size > 0 else scores
        prevalence, _ = self._start_prevalence(table)
        return LabelPosterior(log_odds_to_log_probabilities(scores), prevalence, {"scores_": scores})

    @staticmethod
    def _others(node: np.ndarray, values: Floats, count: int) -> Floats:
        return np.asarray(weighted_sums(node, values, count)[node] - values)


class NormalisedKOS(KOS):
    """KOS (karger2011) with each sum divided by the degree less one: busy workers and tasks do not take over.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> data = cc.simulate_labels(100, seed=1)
    >>> found = cc.NormalisedKOS().fit(data.labels)
    >>> bool((found.predict() == data.truth.loc[list(found.tasks_)].to_numpy()).mean() > 0.8)
    True
    """

    name = "kos-normalised"
    _normalised = True
