"""Expectation propagation: all sites at once, damped as far as it is needed (docs/experts.md, sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.inference.aggregators.label_table import Floats
from crowdclust_app.inference.experts.posterior import Engine, GaussianPosterior
from crowdclust_app.inference.experts.sites import LabelLikelihoods, SiteUpdate, update_sites
from crowdclust_app.inference.experts.triangular_solves import NotPositiveDefiniteError

# Parallel updates overshoot where sites depend on each other: never the whole of one is taken.
_LONGEST_STEP = 0.9
# Iterations after which the steps are halved for good: by then the sites swing round the fixed point.
_PATIENCE = 150
# A step that raised the residual lowers the longest step to this share of it, from where it grows again slowly: where
# sharp boundaries make the sites swing, that halves the iterations (90 to 44).
_SHRINK, _GROWTH = 0.75, 1.05
# A cavity with less than this share of the posterior's precision is improper: its site keeps its value this time.
_LEAST_CAVITY = 1e-10
_LEAST_STEP = 1e-6


@dataclass(frozen=True, slots=True)
class Sites:
    """Natural parameters of the sites: precisions `tau`, of either sign, and shifts `nu`; shape (n,) each."""

    precision: Floats
    shift: Floats

    @classmethod
    def none(cls, count: int) -> Sites:
        """Sites without effect."""
        return cls(np.zeros(count), np.zeros(count))


@dataclass(frozen=True, slots=True)
class Propagated:
    """A fixed point, or where the iterations ended.

    Parameters
    ----------
    sites, posterior
        The sites, and the Gaussian posterior that they give.
    cavity_mean, cavity_variance : ndarray of shape (n,)
        The posterior without each item's own site.
    update
        Moments at those cavities.
    log_evidence
        `log Z_EP`.
    converged, iterations, residual
        How it went.
    """

    sites: Sites
    posterior: GaussianPosterior
    cavity_mean: Floats
    cavity_variance: Floats
    update: SiteUpdate
    log_evidence: float
    converged: bool
    iterations: int
    residual: float


@dataclass(slots=True)
class _Damping:
    """How much of each update is taken: less after one that raised the residual, and then slowly more again."""

    step: float = _LONGEST_STEP
    longest: float = _LONGEST_STEP
    limit: float = _LONGEST_STEP
    before: float = np.inf

    def next_step(self, residual: float, iteration: int) -> float:
        """The share to take next, at most `limit`, and at least a third of it."""
        if residual > self.before:
            self.longest = max(_SHRINK * self.step, self.limit / 3.0)
            self.step = max(0.7 * self.step, self.limit / 3.0)
        else:
            self.longest = min(_GROWTH * self.longest, self.limit)
            self.step = min(1.3 * self.step, self.longest)
        self.before = residual
        if iteration == _PATIENCE:
            self.limit *= 0.5
        return self.step


def propagate(
    engine: Engine,
    likelihoods: LabelLikelihoods,
    noise: Floats,
    start: Sites | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 300,
    check: Callable[[], None] | None = None,
) -> Propagated:
    """Iterate to the fixed point; never raises when it is not reached.

    Parameters
    ----------
    engine
        The prior.
    likelihoods
        Of each site's labels.
    noise : ndarray of shape (n,)
        White noise of each site.
    start
        Sites of an earlier call; without effect when None, or when their posterior is improper.
    tolerance
        On the largest change of a site in units of its posterior.
    max_iterations
        At most.
    check
        Called each iteration; may raise `Cancelled`.
    """
    sites = start or Sites.none(len(noise))
    try:
        posterior = engine.posterior(sites.precision, sites.shift)
    except NotPositiveDefiniteError:
        sites = Sites.none(len(noise))
        posterior = engine.posterior(sites.precision, sites.shift)
    damping = _Damping()
    iteration, converged = 0, False
    while True:
        mean, variance, proper = _cavities(sites, posterior)
        update = update_sites(mean, variance, noise, likelihoods)
        of_precision = np.where(proper, update.precision - sites.precision, 0.0)
        of_shift = np.where(proper, update.shift - sites.shift, 0.0)
        residual = _residual(of_precision, of_shift, posterior.variance)
        converged = residual < tolerance and bool(proper.all())
        if converged or iteration >= max_iterations:
            break
        if check is not None:
            check()
        iteration += 1
        moved = _move(engine, sites, of_precision, of_shift, damping.next_step(residual, iteration))
        if moved is None:
            break
        sites, posterior = moved
    log_evidence = _log_evidence(sites, posterior, mean, variance, update)
    return Propagated(sites, posterior, mean, variance, update, log_evidence, converged, iteration, residual)


def _cavities(sites: Sites, posterior: GaussianPosterior) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    inverse = 1.0 / posterior.variance
    precision = inverse - sites.precision
    proper = precision > _LEAST_CAVITY * inverse
    variance = 1.0 / np.where(proper, precision, _LEAST_CAVITY * inverse)
    mean = np.where(proper, variance * (posterior.mean * inverse - sites.shift), posterior.mean)
    return mean, np.where(proper, variance, posterior.variance), proper


def _residual(of_precision: Floats, of_shift: Floats, variance: Floats) -> float:
    if not len(variance):
        return 0.0
    return max(float((np.abs(of_precision) * variance).max()), float((np.abs(of_shift) * np.sqrt(variance)).max()))


def _move(
    engine: Engine, sites: Sites, of_precision: Floats, of_shift: Floats, step: float
) -> tuple[Sites, GaussianPosterior] | None:
    """Halve the step until the posterior is proper; None when no step is."""
    while step >= _LEAST_STEP:
        trial = Sites(sites.precision + step * of_precision, sites.shift + step * of_shift)
        try:
            return trial, engine.posterior(trial.precision, trial.shift)
        except NotPositiveDefiniteError:
            step *= 0.5
    return None


def _log_evidence(
    sites: Sites, posterior: GaussianPosterior, mean: Floats, variance: Floats, update: SiteUpdate
) -> float:
    total = float(update.log_z.sum()) + 0.5 * float(sites.shift @ posterior.mean) - 0.5 * posterior.log_determinant
    total += float((0.5 * mean**2 / variance - 0.5 * posterior.mean**2 / posterior.variance).sum())
    inside = np.maximum(-sites.precision * posterior.variance, _LEAST_CAVITY - 1.0)
    return total - 0.5 * float(np.log1p(inside).sum())
