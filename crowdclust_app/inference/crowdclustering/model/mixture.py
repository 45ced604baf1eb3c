"""The Dirichlet process mixture of the positions, by truncated stick breaking (docs/model.md, section 6).

Positions are not points but Normals, so every expected square distance has their variances in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaln, digamma, gammaln

from crowdclust_app.inference.crowdclustering.kernels import mixture as mixture_kernels
from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats
from crowdclust_app.inference.crowdclustering.model.blocks import vech_table
from crowdclust_app.inference.crowdclustering.model.settings import ResolvedSettings

LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True, slots=True)
class Mixture:
    """`K` components with Normal-Wishart posteriors, sorted by mass, and the items' memberships.

    Parameters
    ----------
    memberships : ndarray of shape (n, K)
        `q`.
    sticks : ndarray of shape (K, 2)
        Beta posteriors of the stick weights.
    means : ndarray of shape (K, D)
        `m_k`.
    mean_counts : ndarray of shape (K,)
        `beta_k`: the mean's covariance is `(beta_k * precision)^-1`.
    scatters : ndarray of shape (K, D, D)
        `J_k`: the expected precision is `eta_k J_k^-1`.
    freedoms : ndarray of shape (K,)
        `eta_k`.
    inverses : ndarray of shape (K, D, D)
        `J_k^-1`.
    log_dets : ndarray of shape (K,)
        `log det J_k`.
    """

    memberships: Floats
    sticks: Floats
    means: Floats
    mean_counts: Floats
    scatters: Floats
    freedoms: Floats
    inverses: Floats
    log_dets: Floats

    @property
    def size(self) -> int:
        """Number of components `K`."""
        return len(self.means)


def fit_components(memberships: Floats, mean: Floats, variance: Floats, settings: ResolvedSettings) -> Mixture:
    """Sort components by mass, then update sticks and Normal-Wishart posteriors.

    Parameters
    ----------
    memberships : ndarray of shape (n, K)
        `q`, in any order of components.
    mean, variance : ndarray of shape (n, D)
        Positions.
    settings
        The priors.
    """
    # stick breaking favours few large components, so the bound is highest with the heaviest component first
    order = np.argsort(-memberships.sum(axis=0), kind="stable")
    # component by component in memory: sums over few components are quick then
    q = memberships.T[order].T
    D = mean.shape[1]
    P = D * (D + 1) // 2
    # all sums over the items in one matrix product: second moments, means and counts of each component
    totals = q.T @ mixture_kernels.moments(mean, variance)
    counts, sums = totals[:, -1], totals[:, P:-1]
    later = np.concatenate([np.cumsum(counts[::-1])[::-1][1:], [0.0]])
    sticks = np.column_stack([1.0 + counts, settings.concentration + later])
    mean_counts = settings.mean_precision + counts
    means = sums / mean_counts[:, None]
    # around the posterior mean, with what the prior at 0 adds, `sum q m m' + beta0 m_k m_k'` is this difference
    scatters = totals[:, :P][:, vech_table(D)] - sums[:, :, None] * means[:, None, :]
    # rounding leaves the difference not quite symmetric, which `inv` would carry on
    scatters = 0.5 * (scatters + scatters.transpose(0, 2, 1))
    scatters[:, np.arange(D), np.arange(D)] += settings.scale
    return Mixture(
        memberships=q,
        sticks=sticks,
        means=means,
        mean_counts=mean_counts,
        scatters=scatters,
        freedoms=settings.degrees_of_freedom + counts,
        inverses=np.asarray(np.linalg.inv(scatters), dtype=np.float64),
        log_dets=np.linalg.slogdet(scatters)[1],
    )


def log_weights(mixture: Mixture) -> Floats:
    """`E[log pi_k]` of the sticks; shape (K,)."""
    total = digamma(mixture.sticks.sum(axis=1))
    taken = digamma(mixture.sticks[:, 0]) - total
    left = digamma(mixture.sticks[:, 1]) - total
    return np.asarray(taken + np.concatenate([[0.0], np.cumsum(left)[:-1]]))


def expected_log_precision(mixture: Mixture) -> Floats:
    """`E[log det precision_k]`; shape (K,)."""
    D = mixture.means.shape[1]
    halves = 0.5 * (mixture.freedoms[:, None] - np.arange(D))
    return np.asarray(digamma(halves).sum(axis=1) + D * np.log(2.0) - mixture.log_dets)


def log_responsibilities(mixture: Mixture, mean: Floats, variance: Floats) -> Floats:
    """`log rho`, not normalised; shape (n, K)."""
    D = mean.shape[1]
    base = log_weights(mixture) + 0.5 * (expected_log_precision(mixture) - D * LOG_2PI - D / mixture.mean_counts)
    # the expected square distance is linear in the moments of a position
    precisions = mixture.freedoms[:, None, None] * mixture.inverses
    towards = np.einsum("kde,ke->kd", precisions, mixture.means)
    upper = np.triu_indices(D)
    # an entry off the diagonal stands for two
    twice = np.where(upper[0] == upper[1], 1.0, 2.0)
    constant = base - 0.5 * np.einsum("kd,kd->k", towards, mixture.means)
    weights = np.column_stack([-0.5 * twice * precisions[:, *upper], towards, constant])
    return np.asarray((weights @ mixture_kernels.moments(mean, variance).T).T)


def refresh_memberships(mixture: Mixture, mean: Floats, variance: Floats) -> tuple[Mixture, float]:
    """Update `q`; return also `sum_i logsumexp_k(log rho_ik)`, which is its part of the bound, in nats."""
    rho = log_responsibilities(mixture, mean, variance)
    # far from all components every exponential is 0 unless the largest is taken out first
    top = rho.max(axis=1, keepdims=True)
    rho -= top
    np.exp(rho, out=rho)
    total = rho.sum(axis=1, keepdims=True)
    rho /= total
    return replace(mixture, memberships=rho), float((top + np.log(total)).sum())


def stick_divergence(mixture: Mixture, concentration: float) -> float:
    """KL divergence of the sticks from `Beta(1, alpha)`, in nats."""
    a, b = mixture.sticks[:, 0], mixture.sticks[:, 1]
    total = digamma(a + b)
    divergence = betaln(1.0, concentration) - betaln(a, b)
    divergence = divergence + (a - 1.0) * (digamma(a) - total) + (b - concentration) * (digamma(b) - total)
    return float(divergence.sum())


def log_wishart_norm(freedom: Floats, log_det: Floats, D: int) -> Floats:
    """Log normaliser of a Wishart with `freedom` degrees of freedom and inverse scale of this determinant."""
    multi = 0.25 * D * (D - 1) * np.log(np.pi) + gammaln(0.5 * (freedom[..., None] - np.arange(D))).sum(axis=-1)
    return np.asarray(0.5 * freedom * (D * np.log(2.0) - log_det) + multi)


def component_divergence(mixture: Mixture, settings: ResolvedSettings) -> float:
    """KL divergence of the Normal-Wishart posteriors from their prior, in nats."""
    D = mixture.means.shape[1]
    eta, beta = mixture.freedoms, mixture.mean_counts
    eta0, beta0 = settings.degrees_of_freedom, settings.mean_precision
    prior_norm = log_wishart_norm(np.array([eta0]), np.array([D * np.log(settings.scale)]), D)[0]
    wishart = prior_norm - log_wishart_norm(eta, mixture.log_dets, D)
    wishart = wishart + 0.5 * (eta - eta0) * expected_log_precision(mixture) - 0.5 * eta * D
    wishart = wishart + 0.5 * eta * settings.scale * np.trace(mixture.inverses, axis1=1, axis2=2)
    away = np.einsum("kd,kde,ke->k", mixture.means, mixture.inverses, mixture.means)
    normal = 0.5 * (D * np.log(beta / beta0) - D + D * beta0 / beta + beta0 * eta * away)
    return float((wishart + normal).sum())


def update_mixture(
    memberships: Floats, mean: Floats, variance: Floats, settings: ResolvedSettings
) -> tuple[Mixture, float]:
    """Update components, sticks and `q` in turn.

    Returns
    -------
    mixture : Mixture
        Sorted by mass.
    mixture_bound : float
        The mixture's terms of the lower bound, in nats; the positions' entropy is not among them.
    """
    mixture = fit_components(memberships, mean, variance, settings)
    mixture, evidence = refresh_memberships(mixture, mean, variance)
    return mixture, _bound(evidence, mixture, settings)


def update_held_mixture(
    memberships: Floats, mean: Floats, variance: Floats, settings: ResolvedSettings
) -> tuple[Mixture, float]:
    """Like `update_mixture`, with `q` held at the memberships given.

    `sum q (log rho - log q)` holds for any `q`; only at its optimum is it the sum of `logsumexp` of `log rho`.
    """
    mixture = fit_components(memberships, mean, variance, settings)
    rho = log_responsibilities(mixture, mean, variance)
    q = mixture.memberships
    positive = q > 0.0
    evidence = float((q[positive] * (rho[positive] - np.log(q[positive]))).sum())
    return mixture, _bound(evidence, mixture, settings)


def _bound(evidence: float, mixture: Mixture, settings: ResolvedSettings) -> float:
    return evidence - stick_divergence(mixture, settings.concentration) - component_divergence(mixture, settings)


def position_prior(mixture: Mixture) -> tuple[Floats, Floats]:
    """What the mixture expects of each item: `sum_k q_k eta_k J_k^-1`, (n, D, D), and times `m_k`, (n, D)."""
    precisions = mixture.freedoms[:, None, None] * mixture.inverses
    K, D = mixture.means.shape
    precision = (mixture.memberships @ precisions.reshape(K, D * D)).reshape(-1, D, D)
    shift = mixture.memberships @ np.einsum("kde,ke->kd", precisions, mixture.means)
    return precision, shift


def expected_weights(mixture: Mixture) -> Floats:
    """`E[pi_k]`, scaled so that the `K` components have all of it; shape (K,)."""
    # what the sticks leave over would belong to components that nothing has been seen of
    share = mixture.sticks[:, 0] / mixture.sticks.sum(axis=1)
    weights = share * np.concatenate([[1.0], np.cumprod(1.0 - share)[:-1]])
    return np.asarray(weights / weights.sum())
