"""Communities of workers with similar confusion matrices (CommunityBCC, venanzi2014)."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.base import MOST_CELLS, Aggregator, Common
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import LabelPosterior, normalise
from crowdclust_app.inference.aggregators.label_table import Floats, LabelTable

# Numbers of communities that evidence chooses from.
_TRIED = (1, 2, 3, 4, 5)
# Starts of each number, while there are not more labels.
_STARTS, _FEW_LABELS = 3, 100_000


class CommunityBCC(Aggregator):
    """Each worker belongs to a community, and has its confusion matrix but for some noise (venanzi2014).

    A row of a worker's matrix is the softmax of a row of scores, which are normal around those of the community with a
    precision; those are normal around the logarithms of gamma variables whose shares are the Dirichlet prior of a row,
    `alpha` on the diagonal and `beta` beside it. A worker with few labels is judged by the community. Mean field, with
    the bound of the softmax that the authors' code takes; here a worker has scores for each community it may belong to,
    not one for all, which is tighter. Of several starts, and of 1 to 5 communities, the highest lower bound is taken.

    Parameters
    ----------
    communities
        How many; None chooses by the bound.
    precision
        Of a worker's scores around the community's; the authors' value.
    n_starts
        How many random assignments of workers to communities are tried for each number; None is 3 up to 100,000 labels
        and 1 beyond.

    Attributes
    ----------
    communities_ : ndarray of shape (C, K, K)
        Confusion matrix of each community: true class, answer.
    community_probabilities_ : ndarray of shape (J, C)
        Of each worker's community.
    confusion_ : ndarray of shape (J, K, K)
        Of each worker.
    community_bounds_ : dict
        The highest lower bound by number of communities.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> data = cc.simulate_labels(100, seed=1)
    >>> found = CommunityBCC(communities=2).fit(data.labels)
    >>> bool((found.predict() == data.truth.loc[list(found.tasks_)].to_numpy()).mean() > 0.8)
    True
    >>> found.communities_.shape, found.confusion_.shape == (len(found.workers_), 2, 2)
    ((2, 2, 2), True)
    """

    name = "community-bcc"
    coins = 2
    most_classes = None
    estimates_prevalence = True
    compiled = True
    usual_iterations = 500

    def __init__(
        self,
        *,
        communities: int | None = None,
        precision: float = 5.0,
        n_starts: int | None = None,
        **common: Unpack[Common],
    ) -> None:
        super().__init__(**common)
        self.communities = communities
        self.precision = precision
        self.n_starts = n_starts

    def _validate(self, table: LabelTable) -> None:
        super()._validate(table)
        most = max(_TRIED) if self.communities is None else self.communities
        if most < 1 or (self.n_starts is not None and self.n_starts < 1) or not 0 < self.precision < np.inf:
            raise InvalidInputError("communities, precision or n_starts is out of range", todo="take 3, 5 and 3")
        if table.n_workers * most * table.n_classes**2 > MOST_CELLS:
            what = f"community-bcc needs a matrix a worker and community, too large with {table.n_classes:,} classes"
            raise InvalidInputError(what, todo="take em or majority")

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        # most methods need no SciPy
        from scipy.sparse import csr_array

        rows = table.canonical
        cells = rows.worker * table.n_classes + rows.label
        shape = (table.n_tasks, table.n_workers * table.n_classes)
        answers = csr_array((np.ones(table.n_labels), (rows.task, cells)), shape=shape)
        prevalence, estimated = self._start_prevalence(table)
        usual = _STARTS if table.n_labels <= _FEW_LABELS else 1
        n_starts = usual if self.n_starts is None else self.n_starts
        tried = [
            (count, start)
            for count in (_TRIED if self.communities is None else (self.communities,))
            for start in range(1 if count == 1 else n_starts)
        ]
        rng = np.random.default_rng(self.seed)
        bounds: dict[int, float] = {}
        fits: list[tuple[Iterations, _Fit]] = []
        highest = -np.inf
        quiet = run.again(quiet=True)
        run.max_iterations = len(tried)
        for count, _ in tried:
            fit = _Fit(self, table, answers, count, rng, None if estimated else np.log(prevalence))
            each = quiet.again(quiet=True)
            going = True
            while going:
                change, bound = fit.step()
                gain = abs(bound - each.bounds[-1]) / table.n_labels if each.bounds else np.inf
                going = each.step(min(change, gain), bound)
            bounds[count] = max(bounds.get(count, -np.inf), each.bounds[-1])
            if each.bounds[-1] > highest:
                highest, fits = each.bounds[-1], [(each, fit)]
            run.step(0.0)
        each, best = fits[0]
        run.iterations, run.converged, run.bounds = each.iterations, each.converged, each.bounds
        if estimated:
            prevalence = best.prevalence()
        extras = best.results() | {"community_bounds_": bounds}
        notes = [f"the evidence is for {len(best.centres)} of up to {max(_TRIED)} communities of workers"]
        return LabelPosterior(best.logs, prevalence, extras, notes if self.communities is None else [])


class _Fit:
    """One run from one random assignment of workers to communities."""

    def __init__(
        self,
        method: CommunityBCC,
        table: LabelTable,
        answers: Any,
        count: int,
        rng: np.random.Generator,
        log_prevalence: Floats | None,
    ) -> None:
        # most methods need no SciPy
        from scipy.special import digamma, polygamma

        size, workers = table.n_classes, table.n_workers
        self.answers, self.precision = answers, method.precision
        self.labelled = table.task_counts > 0
        right, wrong = method._beta
        pseudo = np.full((size, size), wrong)
        np.fill_diagonal(pseudo, right)
        self.prior_mean: Floats = np.asarray(digamma(pseudo))
        self.prior_precision: Floats = np.asarray(1.0 / polygamma(1, pseudo))
        self.log_prevalence = log_prevalence
        self.members: Floats = np.zeros((workers, count))
        self.members[np.arange(workers), rng.integers(0, count, workers)] = 1.0
        self.centres: Floats = np.tile(self.prior_mean, (count, 1, 1))
        self.spread: Floats = np.tile(1.0 / self.prior_precision, (count, 1, 1))
        self.means: Floats = np.tile(self.prior_mean, (workers, count, 1, 1))
        self.variances: Floats = np.full_like(self.means, 1.0 / self.precision)
        self.normaliser: Floats = np.empty((workers, count, size))
        # tasks without labels are no evidence of any class
        self.posterior: Floats = np.where(self.labelled[:, None], method._start_shares(table), 0.0)
        self.logs: Floats = np.empty(0)
        self.begun = False

    def step(self) -> tuple[float, float]:
        """One round over workers, communities and tasks; the largest change of a probability, and the lower bound."""
        # compiled kernels take a second to load; most methods need none
        from crowdclust_app.inference.aggregators.community_kernels import settle_scores

        workers, size = self.means.shape[0], self.means.shape[2]
        counts = np.asarray(self.answers.T @ self.posterior).reshape(workers, size, size).transpose(0, 2, 1)
        counts = np.ascontiguousarray(counts)
        settle_scores(counts, self.centres, self.precision, self.means, self.variances, self.normaliser)
        fit = np.einsum("jkl,jmkl->jm", counts, self.means) - np.einsum(
            "jk,jmk->jm", counts.sum(axis=2), self.normaliser
        )
        log_share, _ = _dirichlet(self.members.sum(axis=0))
        if self.begun:
            # in the first round the random assignment decides, or all communities stay alike
            self.members = np.exp(normalise(fit + self._scores() + log_share)[0])
        self.begun = True
        log_share, share_loss = _dirichlet(self.members.sum(axis=0))
        precision = self.prior_precision + self.precision * self.members.sum(axis=0)[:, None, None]
        pull = self.precision * np.einsum("jm,jmkl->mkl", self.members, self.means)
        self.centres = (self.prior_precision * self.prior_mean + pull) / precision
        self.spread = 1.0 / precision
        if self.log_prevalence is None:
            log_class, class_loss = _dirichlet(self.posterior.sum(axis=0))
        else:
            log_class, class_loss = self.log_prevalence, 0.0
        said = np.einsum("jm,jmkl->jlk", self.members, self.means - self.normaliser[..., None])
        logs = np.asarray(self.answers @ said.reshape(workers * size, size)) + log_class
        self.logs, total = normalise(logs)
        before, self.posterior = self.posterior, np.where(self.labelled[:, None], np.exp(self.logs), 0.0)
        change = float(np.abs(self.posterior - before).max())
        known = np.where(self.members > 0, np.log(np.maximum(self.members, 1e-300)), 0.0)
        of_workers = (self.members * (self._scores() + log_share - known)).sum()
        away = (self.centres - self.prior_mean) ** 2 + self.spread
        of_centres = 0.5 * (np.log(self.spread * self.prior_precision) + 1.0 - self.prior_precision * away).sum()
        bound = total[self.labelled].sum() - class_loss - share_loss + of_workers + of_centres
        return change, float(bound)

    def _scores(self) -> Floats:
        """What the bound has of each worker's scores in each community, but for the labels; shape (J, C)."""
        away = (self.means - self.centres) ** 2 + self.variances + self.spread
        terms = np.log(self.precision * self.variances) + 1.0 - self.precision * away
        return np.asarray(0.5 * terms.sum(axis=(2, 3)))

    def prevalence(self) -> Floats:
        """Posterior mean of the prevalence."""
        counts = self.posterior.sum(axis=0) + 1.0
        return np.asarray(counts / counts.sum())

    def results(self) -> dict[str, Any]:
        """What was found about workers."""
        matrices = np.exp(self.means - np.logaddexp.reduce(self.means, axis=3, keepdims=True))
        return {
            "communities_": np.exp(self.centres - np.logaddexp.reduce(self.centres, axis=2, keepdims=True)),
            "community_probabilities_": self.members,
            "confusion_": np.einsum("jm,jmkl->jkl", self.members, matrices),
        }


def _dirichlet(counts: Floats) -> tuple[Floats, float]:
    """Expected log-shares after counts under an even prior, and the divergence from that prior."""
    # most methods need no SciPy
    from scipy.special import digamma, gammaln

    after = counts + 1.0
    logs = np.asarray(digamma(after) - digamma(after.sum()))
    divergence = gammaln(after.sum()) - gammaln(after).sum() - gammaln(len(counts)) + (counts * logs).sum()
    return logs, float(divergence)
