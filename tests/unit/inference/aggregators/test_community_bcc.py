"""CommunityBCC: the bound against draws from its posterior, its rows against a general optimiser, and sparse crowds."""

# mypy: disable-error-code="attr-defined, arg-type"
# what is fitted has names that not all aggregators share

from __future__ import annotations

import numpy as np
import pytest
from label_tables import of_classes, simulated
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import gammaln, log_softmax, logsumexp, polygamma, psi
from scipy.stats import dirichlet, norm

from crowdclust_app.domain.errors import UserError
from crowdclust_app.inference.aggregators import CommunityBCC, DawidSkene, LabelTable, encode_labels
from crowdclust_app.inference.aggregators.community_bcc import _Fit
from crowdclust_app.inference.aggregators.community_kernels import settle_scores
from crowdclust_app.inference.aggregators.scoring import score


def test_rows_of_scores_are_the_best_gaussians() -> None:
    rng = np.random.default_rng(3)
    workers, groups, size, precision = 3, 2, 3, 5.0
    counts = rng.gamma(0.5, 20.0, (workers, size, size))
    counts[0] = 0.0
    centres = rng.normal(0, 2, (groups, size, size))
    means, variances = np.zeros((workers, groups, size, size)), np.ones((workers, groups, size, size))
    normaliser = np.empty((workers, groups, size))
    settle_scores(counts, centres, precision, means, variances, normaliser)

    for j, m, k in np.ndindex(workers, groups, size):

        def loss(at: np.ndarray, row: np.ndarray = counts[j, k], centre: np.ndarray = centres[m, k]) -> float:
            mean, variance = at[:size], np.exp(at[size:])
            likelihood = row @ mean - row.sum() * logsumexp(mean + variance / 2)
            prior = -precision / 2 * ((mean - centre) ** 2 + variance).sum()
            return float(-(likelihood + prior + np.log(variance).sum() / 2))

        found = minimize(loss, np.zeros(2 * size), tol=1e-12)
        mine = np.concatenate([means[j, m, k], np.log(variances[j, m, k])])
        assert loss(mine) <= found.fun + 1e-9
        np.testing.assert_allclose(mine, found.x, atol=1e-4)
        assert normaliser[j, m, k] == pytest.approx(logsumexp(means[j, m, k] + variances[j, m, k] / 2))


def started(table: LabelTable, groups: int, method: CommunityBCC) -> _Fit:
    rows = table.canonical
    cells = rows.worker * table.n_classes + rows.label
    shape = (table.n_tasks, table.n_workers * table.n_classes)
    answers = csr_array((np.ones(table.n_labels), (rows.task, cells)), shape=shape)
    return _Fit(method, table, answers, groups, np.random.default_rng(0), None)


@pytest.mark.parametrize(("classes", "groups"), [(2, 1), (2, 2), (3, 2)])
def test_the_bound_is_that_of_draws_from_the_posterior(classes: int, groups: int) -> None:
    table = of_classes(classes, tasks=25, workers=8, per_task=5, seed=1)
    fit = started(table, groups, CommunityBCC(prior=(3.0, 1.0)))
    bounds = []
    shares, of_classes_before = np.ones(groups), np.ones(classes)
    for _ in range(60):
        of_classes_before = 1.0 + fit.posterior.sum(axis=0)
        bounds.append(fit.step()[1])
        shares = 1.0 + fit.members.sum(axis=0)
    assert np.diff(bounds).min() > -1e-9
    pseudo = np.ones((classes, classes)) + 2.0 * np.eye(classes)
    mean, variance = psi(pseudo), polygamma(1, pseudo)
    rng = np.random.default_rng(2)
    drawn, looser = [], []
    worker = np.arange(table.n_workers)
    for _ in range(3000):
        truth = np.array([rng.choice(classes, p=row / row.sum()) for row in fit.posterior])
        group = np.array([rng.choice(groups, p=row / row.sum()) for row in fit.members])
        mine, spread = fit.means[worker, group], np.sqrt(fit.variances[worker, group])
        scores = rng.normal(mine, spread)
        centres = rng.normal(fit.centres, np.sqrt(fit.spread))
        of_groups, of_classes_drawn = rng.dirichlet(shares), rng.dirichlet(of_classes_before)
        said = table.worker, truth[table.task], table.label
        log_p = (scores - fit.normaliser[worker, group][:, :, None])[said].sum() + np.log(of_classes_drawn)[truth].sum()
        log_p += np.log(of_groups)[group].sum() + gammaln(groups) + gammaln(classes)
        log_p += norm.logpdf(scores, centres[group], 5.0**-0.5).sum()
        log_p += norm.logpdf(centres, mean, np.sqrt(variance)).sum()
        log_q = np.log(fit.posterior[np.arange(table.n_tasks), truth]).sum() + norm.logpdf(scores, mine, spread).sum()
        log_q += np.log(fit.members[worker, group]).sum()
        log_q += norm.logpdf(centres, fit.centres, np.sqrt(fit.spread)).sum()
        if groups > 1:
            log_q += dirichlet.logpdf(of_groups, shares)
        log_q += dirichlet.logpdf(of_classes_drawn, of_classes_before)
        drawn.append(log_p - log_q)
        looser.append((log_softmax(scores, axis=2) - scores + fit.normaliser[worker, group][:, :, None])[said].sum())
    assert bounds[-1] == pytest.approx(np.mean(drawn), abs=4 * np.std(drawn) / np.sqrt(len(drawn)))
    # the softmax itself is more probable than what it is bounded by
    assert 0 < np.mean(looser) < 0.05 * table.n_labels


def test_workers_with_few_labels_are_judged_by_their_community() -> None:
    rng = np.random.default_rng(1)
    truth, good = rng.integers(0, 2, 400), rng.random(500) < 0.6
    task = np.repeat(np.arange(400), 5)
    worker = rng.permutation(np.repeat(np.arange(500), 4))
    right = rng.random(2000) < np.where(good[worker], 0.9, 0.5)
    table = encode_labels(task, worker, np.where(right, truth[task], 1 - truth[task]))
    known = dict(enumerate(truth.tolist()))
    fitted = CommunityBCC(n_starts=1).fit_encoded(table)
    error, alone = score(fitted, known).error, score(DawidSkene().fit_encoded(table), known).error
    assert error is not None
    assert alone is not None
    assert error < alone - 0.01
    assert set(fitted.community_bounds_) == {1, 2, 3, 4, 5}
    assert fitted.lower_bounds_[-1] == max(fitted.community_bounds_.values())
    assert fitted.notes_[0] == f"the evidence is for {len(fitted.communities_)} of up to 5 communities of workers"


def test_the_number_of_communities_can_be_set() -> None:
    table, _ = simulated(40, 10, 4)
    fitted = CommunityBCC(communities=2, prevalence=0.4).fit(table)
    assert fitted.communities_.shape == (2, 2, 2)
    assert fitted.notes_ == ()
    assert fitted.prevalence_.tolist() == [0.6, 0.4]
    np.testing.assert_allclose(fitted.community_probabilities_.sum(axis=1), 1.0)
    np.testing.assert_allclose(fitted.confusion_.sum(axis=2), 1.0)
    for wrong in ({"communities": 0}, {"n_starts": 0}, {"precision": 0.0}):
        with pytest.raises(UserError, match="communities, precision or n_starts is out of range"):
            CommunityBCC(**wrong).fit(table)
    with pytest.raises(UserError, match="needs a matrix a worker and community, too large"):
        CommunityBCC(communities=10**7).fit(table)
