"""Generalised EM of the Gaussian process: expertise and noise in closed form, the kernel by gradients.

Label switching: workers of expertise `eps` and classes `h` explain the labels exactly as well as workers of expertise
`1 - eps` and classes `-h`. Of the two the one that is more probable a priori is reported (docs/experts.md, section 7).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from crowdclust_app.inference.aggregators.label_table import Codes, Floats
from crowdclust_app.inference.experts.kernel import Kernel, log_gradients
from crowdclust_app.inference.experts.posterior import DenseEngine, DensePosterior, Engine
from crowdclust_app.inference.experts.propagation import Propagated, Sites, propagate
from crowdclust_app.inference.experts.sites import (
    WorkerLabels,
    WorkerPosterior,
    WorkerPriors,
    label_likelihoods,
    largest_change,
    responsibilities,
    update_expertise,
    update_workers,
)

# Tolerances of propagation: coarse while the workers still change much, which moves the fixed point; fine at last.
EARLY = 1e-2
ROUGH = 1e-4
FINE = 1e-6
_OF_KERNEL = 1e-3
# EM ends only where propagation was at most so much coarser than its own tolerance: a coarse fixed point hides change.
_STRICT = 2.0
INNER_STEPS = 3
# Gold labels are those of a worker who is right nearly always; with 1 a single mistake would have probability 0.
GOLD_EXPERTISE = 0.999
_ROUNDS = 4
_KERNEL_EVALUATIONS = 15
_KERNEL_TOLERANCE = 1e-2
# Gains (relative) and slopes below these are within what rough propagation leaves open.
_KERNEL_GAIN = 1e-6
_KERNEL_SLOPE = 1e-2
_START_AGREEMENT = 0.95
_START_LIMITS = (0.05, 0.95)


@dataclass(frozen=True, slots=True)
class EMSettings:
    """How the workers are learned.

    Parameters
    ----------
    priors
        Of the workers.
    max_steps, tolerance
        EM steps in a row at most, and the change at which they end.
    anchored
        Whether gold labels say which class is which, so that there is no label switching to undo.
    report
        Called with change and log posterior of each EM step.
    check
        Called each sweep; may raise `Cancelled`.
    """

    priors: WorkerPriors
    max_steps: int
    tolerance: float
    anchored: bool
    report: Callable[[float, float], Any]
    check: Callable[[], None]


@dataclass(frozen=True, slots=True)
class LearnedWorkers:
    """The workers, the fixed point before their last step (theirs after `propagate_finely`), and how the EM ended."""

    workers: WorkerPosterior
    propagated: Propagated
    converged: bool
    mirrored: bool


def initial_workers(labels: WorkerLabels, priors: WorkerPriors, gold: Floats | None = None) -> WorkerPosterior:
    """Initial expertise: how often each worker agrees with the votes, or with the gold labels where there are any.

    Parameters
    ----------
    labels
        The labels; the gold ones are those of the workers in `labels.fixed`.
    priors
        Of the workers.
    gold : ndarray of shape (n,) or None
        1, 0, or NaN where it is not known.
    """
    known = np.full(labels.n_workers, GOLD_EXPERTISE)
    if gold is None:
        expertise, right = update_expertise(labels, labels.vote_shares, priors, known)
    else:
        kept = ~np.isnan(gold[labels.item])
        columns = {name: getattr(labels, name)[kept] for name in ("item", "worker", "yes", "no")}
        expertise, right = update_expertise(replace(labels, **columns), np.nan_to_num(gold), priors, known)
    return WorkerPosterior(np.where(labels.fixed, known, np.clip(expertise, *_START_LIMITS)), _START_AGREEMENT, right)


def honesty_of(workers: WorkerPosterior, labels: WorkerLabels) -> float:
    """`sum_j logit eps_j` of the workers with labels: above 0 where skill and honesty go together."""
    counted = workers.expertise[~labels.fixed & (labels.worker_counts > 0)]
    return float((np.log(counted) - np.log1p(-counted)).sum())


def is_mirrored(workers: WorkerPosterior, labels: WorkerLabels, em: EMSettings) -> bool:
    """Whether the mirrored solution is more probable a priori, and no gold label settles which it is."""
    a, b = em.priors.expertise
    return not em.anchored and (a - b) * honesty_of(workers, labels) < 0.0


def mirror(workers: WorkerPosterior, labels: WorkerLabels) -> WorkerPosterior:
    """The workers who explain the labels as well with the classes exchanged."""
    return replace(workers, expertise=np.where(labels.fixed, workers.expertise, 1.0 - workers.expertise))


def inner_em_steps(labels: WorkerLabels, workers: WorkerPosterior, z: Floats, priors: WorkerPriors) -> WorkerPosterior:
    """EM steps at fixed cavities `z`: they cost next to nothing beside a propagation, and save some."""
    for _ in range(INNER_STEPS):
        workers = update_workers(labels, responsibilities(z, label_likelihoods(labels, workers)), priors, workers)
    return workers


def learn_workers(
    engine: Engine, noise: Floats, labels: WorkerLabels, workers: WorkerPosterior, sites: Sites, em: EMSettings
) -> LearnedWorkers:
    """Learn expertise and agreement with the kernel fixed, and undo label switching.

    Parameters
    ----------
    engine
        Prior of the process at the labelled items.
    noise : ndarray of shape (n,)
        White noise of each.
    labels
        Of those items.
    workers, sites
        Where to begin.
    em
        Settings.
    """
    result = _run_em(engine, noise, labels, workers, sites, em)
    if not is_mirrored(result.workers, labels, em):
        return result
    before = result.propagated.sites
    opposite = Sites(before.precision, -before.shift)
    result = _run_em(engine, noise, labels, mirror(result.workers, labels), opposite, em)
    return replace(result, mirrored=True)


def _run_em(
    engine: Engine, noise: Floats, labels: WorkerLabels, workers: WorkerPosterior, sites: Sites, em: EMSettings
) -> LearnedWorkers:
    learned = ~labels.fixed
    converged, tolerance = False, EARLY
    for _ in range(em.max_steps):
        found = propagate(engine, label_likelihoods(labels, workers), noise, sites, tolerance, check=em.check)
        sites = found.sites
        bound = found.log_evidence + em.priors.log_density(workers, learned)
        new = inner_em_steps(labels, workers, found.update.z, em.priors)
        change = largest_change(workers, new)
        workers = new
        em.report(change, bound)
        if change < em.tolerance and tolerance <= _STRICT * em.tolerance:
            converged = True
            break
        tolerance = min(max(0.5 * change, ROUGH), EARLY)
    return LearnedWorkers(workers, found, converged, mirrored=False)


@dataclass(frozen=True, slots=True)
class KernelPrior:
    """Log-normal priors of a kernel's hyperparameters (standard deviation 1 of the logarithm), and their bounds.

    Parameters
    ----------
    centre
        Their modes; an intercept of 0 stays 0.
    """

    centre: Kernel

    @property
    def logs(self) -> Floats:
        """Logarithms of the modes."""
        return kernel_logs(self.centre)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Bounds of the logarithms."""
        reach = ((-3.0, 3.0), (-3.0, 3.0), (-4.0, 2.0))
        return [(log + low, log + high) for log, (low, high) in zip(self.logs, reach, strict=False)]

    def log_density(self, logs: Floats) -> float:
        """Log density of the logarithms, without constants."""
        return -0.5 * float(np.square(logs - self.logs).sum())


def kernel_logs(kernel: Kernel) -> Floats:
    """Logarithms of a kernel's hyperparameters that are not 0."""
    numbers = (kernel.amplitude, kernel.length_scale, kernel.intercept)
    return np.asarray(np.log([number for number in numbers if number > 0]))


def kernel_of(logs: Floats) -> Kernel:
    """The kernel with these logarithms."""
    return Kernel(*np.exp(logs).tolist())


def kernel_gradient(found: Propagated, derivatives: list[Floats]) -> Floats:
    """`d log Z_EP / d theta` at a fixed point (equation 53 without an inverse of `K`).

    Parameters
    ----------
    found
        The fixed point of a `DenseEngine`.
    derivatives
        `dK / d theta`, shape (n, n) each.
    """
    posterior = found.posterior
    assert isinstance(posterior, DensePosterior)
    b = posterior.weights
    R = posterior.inner_inverse()
    np.subtract(np.outer(b, b), R, out=R)
    return np.array([0.5 * float(np.vdot(R, derivative)) for derivative in derivatives])


def maximise_over_kernel(
    squared: Floats, labels: WorkerLabels, workers: WorkerPosterior, sites: Sites, kernel: Kernel, prior: KernelPrior,
    em: EMSettings,
) -> tuple[Kernel, Sites]:  # fmt: skip
    """Maximise evidence times prior over the kernel's hyperparameters by L-BFGS-B, the workers fixed.

    Parameters
    ----------
    squared : ndarray of shape (n, n)
        Squared distances of the items.
    labels, workers, sites, em
        As in `learn_workers`.
    kernel, prior
        Where to begin, and the prior.
    """
    likelihoods, noise = label_likelihoods(labels, workers), np.ones(labels.n_items)
    # each evaluation starts from the sites of the one before
    warm = [sites]

    def objective(logs: Floats) -> tuple[float, Floats]:
        trial = kernel_of(logs)
        engine = DenseEngine(trial.of_distances(squared))
        found = propagate(engine, likelihoods, noise, warm[0], _OF_KERNEL, check=em.check)
        warm[0] = found.sites
        gradient = kernel_gradient(found, log_gradients(trial, squared))
        return -(found.log_evidence + prior.log_density(logs)), -(gradient - (logs - prior.logs))

    options = {"maxfun": _KERNEL_EVALUATIONS, "ftol": _KERNEL_GAIN, "gtol": _KERNEL_SLOPE}
    best = minimize(objective, kernel_logs(kernel), jac=True, method="L-BFGS-B", bounds=prior.bounds, options=options)
    return kernel_of(best.x), warm[0]


def learn_workers_and_kernel(
    squared: Floats, labels: WorkerLabels, workers: WorkerPosterior, sites: Sites, kernel: Kernel, prior: KernelPrior,
    em: EMSettings,
) -> tuple[LearnedWorkers, Kernel]:  # fmt: skip
    """Learn workers and kernel in turn, at most four times.

    Parameters
    ----------
    squared, labels, workers, sites, kernel, prior, em
        As in `maximise_over_kernel`.
    """
    noise, mirrored = np.ones(labels.n_items), False
    for _ in range(_ROUNDS):
        result = learn_workers(DenseEngine(kernel.of_distances(squared)), noise, labels, workers, sites, em)
        mirrored |= result.mirrored
        workers = result.workers
        new, sites = maximise_over_kernel(squared, labels, workers, result.propagated.sites, kernel, prior, em)
        moved = float(np.abs(kernel_logs(new) - kernel_logs(kernel)).max())
        kernel = new
        if moved < _KERNEL_TOLERANCE:
            break
    engine = DenseEngine(kernel.of_distances(squared))
    return propagate_finely(engine, noise, labels, replace(result, mirrored=mirrored), em), kernel


def propagate_finely(
    engine: Engine, noise: Floats, labels: WorkerLabels, result: LearnedWorkers, em: EMSettings
) -> LearnedWorkers:
    """Propagate to the fine tolerance with the workers that were learned."""
    likelihoods = label_likelihoods(labels, result.workers)
    found = propagate(engine, likelihoods, noise, result.propagated.sites, FINE, check=em.check)
    return replace(result, propagated=found, converged=result.converged and found.residual < ROUGH)


def random_items(count: int, most: int, rng: np.random.Generator) -> Codes:
    """At most `most` of the items, drawn at random, in ascending order."""
    return np.arange(count) if count <= most else np.sort(rng.choice(count, most, replace=False))
