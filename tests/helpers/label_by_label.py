"""The model with its labels expanded one by one, in plain numpy: slow, and as close to the paper as can be."""

from __future__ import annotations

import numpy as np

from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.inference.crowdclustering.model.blocks import VariationalPosterior
from crowdclust_app.inference.crowdclustering.model.data import labels_of
from crowdclust_app.inference.crowdclustering.model.estimator import Crowdclustering
from crowdclust_app.inference.crowdclustering.model.settings import resolved


def table_of(responses, n_items=0, n_workers=0):
    """A table from `(worker, {item: group})` with numbers for names."""
    rows = [
        Response(f"h{number}", f"w{worker}", tuple(f"i{i}" for i in groups), tuple(str(g) for g in groups.values()))
        for number, (worker, groups) in enumerate(responses)
    ]
    return ResponseTable.from_responses(rows, [f"i{i}" for i in range(n_items)], [f"w{j}" for j in range(n_workers)])


def random_table(random, n_items=12, n_workers=3, sizes=(2, 5, 9, 3, 7, 11), groups=3):
    return table_of(
        [
            (
                int(random.integers(n_workers)),
                {
                    int(i): int(random.integers(groups))
                    for i in random.choice(n_items, min(size, n_items), replace=False)
                },
            )
            for size in sizes
        ],
        n_items,
        n_workers,
    )


def random_posterior(random, table, dimensions, **parameters):
    """A posterior in general position: every mean and every variance is its own."""
    settings = resolved(Crowdclustering.as_published(dimensions=dimensions, **parameters)._settings())
    labels = labels_of(table, settings.consensus)
    n, J, D = labels.n_items, labels.n_workers, dimensions
    weights = random.normal(size=(J, D, D))
    weight_variances = random.uniform(0.05, 0.8, size=(J, D, D))
    return VariationalPosterior(
        labels=labels,
        settings=settings,
        mean=random.normal(size=(n, D)),
        variance=random.uniform(0.05, 0.8, size=(n, D)),
        weights=(weights + weights.transpose(0, 2, 1)) / 2,
        weight_variances=(weight_variances + weight_variances.transpose(0, 2, 1)) / 2,
        biases=random.normal(size=J),
        bias_variances=random.uniform(0.05, 0.8, size=J),
    )


def expand(labels):
    """Rows `(a, b, worker, label)` of all pair labels."""
    rows = []
    for r in range(labels.n_responses):
        here = range(labels.response_ptr[r], labels.response_ptr[r + 1])
        rows += [
            (labels.items[p], labels.items[q], labels.workers[r], 1 if labels.groups[p] == labels.groups[q] else -1)
            for p in here
            for q in here
            if p < q
        ]
    return rows


def curvature(delta):
    return -np.tanh(delta / 2) / (4 * delta)


def moments(posterior, a, b, j):
    """`E[A]` and `Var[A]` of one label as section 3 has them."""
    m, v = posterior.mean, posterior.variance
    M, S = posterior.weights[j], posterior.weight_variances[j]
    u = M @ m[a]
    K = M @ np.diag(v[a]) @ M
    outer = S * np.outer(m[a], m[a])
    K = K + outer - np.diag(np.diag(outer))
    c = u * u + (M * M) @ v[a]
    s = S @ (m[a] ** 2 + v[a])
    mean = u @ m[b] + posterior.biases[j]
    variance = m[b] @ K @ m[b] + v[b] @ c + s @ (m[b] ** 2 + v[b]) + posterior.bias_variances[j]
    return mean, variance


def second_moment(posterior, a, b, j):
    """`E[A^2]` of one label term by term: `A = sum_pq W_pq x_p y_q + tau`."""
    D = posterior.mean.shape[1]
    M, S, t = posterior.weights[j], posterior.weight_variances[j], posterior.biases[j]
    xx = np.outer(posterior.mean[a], posterior.mean[a]) + np.diag(posterior.variance[a])
    yy = np.outer(posterior.mean[b], posterior.mean[b]) + np.diag(posterior.variance[b])
    total = t * t + posterior.bias_variances[j] + 2 * t * (posterior.mean[a] @ M @ posterior.mean[b])
    for p in range(D):
        for q in range(D):
            for r in range(D):
                for s in range(D):
                    same = {(p, q), (q, p)} & {(r, s)}
                    total += (M[p, q] * M[r, s] + (S[p, q] if same else 0.0)) * xx[p, r] * yy[q, s]
    return total


def features(D, x, y):
    """The pair features `phi`: `x_p y_p`, or `x_p y_q + x_q y_p` for `p < q`."""
    return np.array([x[p] * y[q] + (x[q] * y[p] if p < q else 0.0) for p in range(D) for q in range(p, D)])


def feature_moments(posterior, a, b):
    """`E[phi phi']` of one pair, term by term."""
    D = posterior.mean.shape[1]
    xx = np.outer(posterior.mean[a], posterior.mean[a]) + np.diag(posterior.variance[a])
    yy = np.outer(posterior.mean[b], posterior.mean[b]) + np.diag(posterior.variance[b])
    terms = [[(p, q), (q, p)] if p < q else [(p, q)] for p in range(D) for q in range(p, D)]
    return np.array([[sum(xx[p, r] * yy[q, s] for p, q in one for r, s in two) for two in terms] for one in terms])


def all_moments(posterior):
    """`E[A]` and `E[A^2]` of every label; two arrays of shape (T,)."""
    rows = expand(posterior.labels)
    pairs = [moments(posterior, a, b, j) for a, b, j, _ in rows]
    mean = np.array([m for m, _ in pairs])
    return mean, mean**2 + np.array([v for _, v in pairs])


def likelihood_bound(posterior, deltas=None):
    """`F_like`, with every `Delta` at its optimum or held at the given values."""
    mean, square = all_moments(posterior)
    held = np.sqrt(square) if deltas is None else deltas
    signs = np.array([label for *_, label in expand(posterior.labels)])
    terms = -np.logaddexp(0, -held) + (signs * mean - held) / 2 + curvature(held) * (square - held**2)
    return posterior.settings.label_weight * terms.sum()


def item_update(posterior, item, prior_precision, prior_shift):
    """Mean and variances of one item as section 4 has them."""
    D = posterior.mean.shape[1]
    kappa = posterior.settings.label_weight
    precision = np.array(prior_precision)
    right = np.array(prior_shift)
    for a, b, j, label in expand(posterior.labels):
        if item not in (a, b):
            continue
        other = b if a == item else a
        M, S, t = posterior.weights[j], posterior.weight_variances[j], posterior.biases[j]
        mean, variance = moments(posterior, item, other, j)
        lam = kappa * curvature(np.sqrt(mean**2 + variance))
        B = lam * np.outer(posterior.mean[other], posterior.mean[other])
        v0 = lam * posterior.variance[other]
        off = S * B
        off = off - np.diag(np.diag(off))
        precision += -2 * (M @ (B + np.diag(v0)) @ M + np.diag(S @ (np.diag(B) + v0)) + off)
        right += M @ ((kappa * label / 2 + 2 * lam * t) * posterior.mean[other])
    assert precision.shape == (D, D)
    return np.linalg.solve(precision, right), 1 / np.diag(precision)


def worker_update(posterior):
    """Means and variances of all workers' weights, as vech, as section 5 has them."""
    D, J = posterior.mean.shape[1], posterior.labels.n_workers
    P = D * (D + 1) // 2
    kappa = posterior.settings.label_weight
    precision = np.repeat(np.eye(P)[None] / posterior.settings.weight_variance, J, axis=0)
    lin = np.zeros((J, P))
    for a, b, j, label in expand(posterior.labels):
        mean, variance = moments(posterior, a, b, j)
        lam = kappa * curvature(np.sqrt(mean**2 + variance))
        precision[j] -= 2 * lam * feature_moments(posterior, a, b)
        pull = kappa * label / 2 + 2 * lam * posterior.biases[j]
        lin[j] += pull * features(D, posterior.mean[a], posterior.mean[b])
    return np.linalg.solve(precision, lin[..., None])[..., 0], 1 / np.diagonal(precision, axis1=1, axis2=2)


def bias_update(posterior):
    """Means and variances of all biases as section 5 has them."""
    kappa = posterior.settings.label_weight
    precision = np.full(posterior.labels.n_workers, 1 / posterior.settings.bias_variance)
    right = np.zeros(posterior.labels.n_workers)
    for a, b, j, label in expand(posterior.labels):
        mean, variance = moments(posterior, a, b, j)
        lam = kappa * curvature(np.sqrt(mean**2 + variance))
        precision[j] -= 2 * lam
        right[j] += kappa * label / 2 + 2 * lam * (mean - posterior.biases[j])
    return right / precision, 1 / precision


def numerical_gradient(value, point, step=1e-5):
    """Central differences of `value()` over the entries of `point`, which it reads."""
    gradient = np.empty(point.shape)
    for index in np.ndindex(point.shape):
        kept = point[index]
        point[index] = kept + step
        above = value()
        point[index] = kept - step
        below = value()
        point[index] = kept
        gradient[index] = (above - below) / (2 * step)
    return gradient
