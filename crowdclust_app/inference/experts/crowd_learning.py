"""Generalised EM of the Gaussian process: expertise and noise in closed form, the kernel by gradients, and the sign.

A crowd with expertise `eps` and classes `h` explains labels exactly as well as one with `1 - eps` and `-h`. What is
reported is the one in which the prior believes more: where the skilled are honest rather than not (docs/experts.md,
section 7).
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
    CrowdLabels,
    CrowdPosterior,
    CrowdPriors,
    evidence_of,
    largest_change,
    learn_crowd,
    learn_expertise,
    responsibilities,
)

# Propagation ends early while the crowd still moves far; finely at last.
EARLY = 1e-2
ROUGH = 1e-4
FINE = 1e-6
_OF_KERNEL = 1e-3
# Steps end only where propagation was not much coarser than they were.
_STRICT = 2.0
INNER_STEPS = 3
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
class Learner:
    """How a crowd is learned.

    Parameters
    ----------
    priors
        Of the crowd.
    max_steps, tolerance
        EM steps in a row at most, and the change at which they end.
    anchored
        Whether gold labels fix the sign, so that it is not turned.
    step
        Told of each EM step: change and log posterior.
    check
        Called each sweep; may raise `Cancelled`.
    """

    priors: CrowdPriors
    max_steps: int
    tolerance: float
    anchored: bool
    step: Callable[[float, float], Any]
    check: Callable[[], None]


@dataclass(frozen=True, slots=True)
class LearnedCrowd:
    """A crowd, the sites it came from (or with, once it is finished), and how it went."""

    crowd: CrowdPosterior
    propagated: Propagated
    converged: bool
    turned: bool


def first_crowd(labels: CrowdLabels, priors: CrowdPriors, gold: Floats | None = None) -> CrowdPosterior:
    """Begin with how often each worker agrees with the votes, or with the gold labels where there are any.

    Parameters
    ----------
    labels
        The labels; the gold ones are those of the workers in `labels.fixed`.
    priors
        Of the crowd.
    gold : ndarray of shape (n,) or None
        1, 0, or NaN where it is not known.
    """
    known = np.full(labels.n_workers, GOLD_EXPERTISE)
    if gold is None:
        expertise, right = learn_expertise(labels, labels.vote_shares, priors, known)
    else:
        kept = ~np.isnan(gold[labels.item])
        columns = {name: getattr(labels, name)[kept] for name in ("item", "worker", "yes", "no")}
        expertise, right = learn_expertise(replace(labels, **columns), np.nan_to_num(gold), priors, known)
    return CrowdPosterior(np.where(labels.fixed, known, np.clip(expertise, *_START_LIMITS)), _START_AGREEMENT, right)


def honesty_of(crowd: CrowdPosterior, labels: CrowdLabels) -> float:
    """`sum_j logit eps_j` of the workers with labels: above 0 where skill and honesty go together."""
    counted = crowd.expertise[~labels.fixed & (labels.worker_counts > 0)]
    return float((np.log(counted) - np.log1p(-counted)).sum())


def stands_on_its_head(crowd: CrowdPosterior, labels: CrowdLabels, learner: Learner) -> bool:
    """Whether the prior believes more in the mirrored crowd, and no gold label says otherwise."""
    a, b = learner.priors.expertise
    return not learner.anchored and (a - b) * honesty_of(crowd, labels) < 0.0


def mirrored(crowd: CrowdPosterior, labels: CrowdLabels) -> CrowdPosterior:
    """The crowd that says the same with classes exchanged."""
    return replace(crowd, expertise=np.where(labels.fixed, crowd.expertise, 1.0 - crowd.expertise))


def expected_steps(labels: CrowdLabels, crowd: CrowdPosterior, z: Floats, priors: CrowdPriors) -> CrowdPosterior:
    """Repeat expectation and maximisation at fixed cavities `z`, which costs nearly nothing."""
    for _ in range(INNER_STEPS):
        crowd = learn_crowd(labels, responsibilities(z, evidence_of(labels, crowd)), priors, crowd)
    return crowd


def learn_at_kernel(
    engine: Engine, noise: Floats, labels: CrowdLabels, crowd: CrowdPosterior, sites: Sites, learner: Learner
) -> LearnedCrowd:
    """Learn expertise and agreement with the kernel fixed, and turn everything if it stands on its head.

    Parameters
    ----------
    engine
        The process at the labelled items.
    noise : ndarray of shape (n,)
        White noise of each.
    labels
        Of those items.
    crowd, sites
        Where to begin.
    learner
        How.
    """
    result = _climb(engine, noise, labels, crowd, sites, learner)
    if not stands_on_its_head(result.crowd, labels, learner):
        return result
    before = result.propagated.sites
    turned = Sites(before.precision, -before.shift)
    result = _climb(engine, noise, labels, mirrored(result.crowd, labels), turned, learner)
    return replace(result, turned=True)


def _climb(
    engine: Engine, noise: Floats, labels: CrowdLabels, crowd: CrowdPosterior, sites: Sites, learner: Learner
) -> LearnedCrowd:
    learned = ~labels.fixed
    converged, tolerance = False, EARLY
    for _ in range(learner.max_steps):
        found = propagate(engine, evidence_of(labels, crowd), noise, sites, tolerance, check=learner.check)
        sites = found.sites
        bound = found.log_evidence + learner.priors.log_density(crowd, learned)
        new = expected_steps(labels, crowd, found.update.z, learner.priors)
        change = largest_change(crowd, new)
        crowd = new
        learner.step(change, bound)
        if change < learner.tolerance and tolerance <= _STRICT * learner.tolerance:
            converged = True
            break
        tolerance = min(max(0.5 * change, ROUGH), EARLY)
    return LearnedCrowd(crowd, found, converged, turned=False)


@dataclass(frozen=True, slots=True)
class KernelPrior:
    """Log-normal priors of a kernel's numbers (standard deviation 1 of the logarithm), and how far each may go.

    Parameters
    ----------
    centre
        Their modes; an intercept of 0 stays 0.
    """

    centre: Kernel

    @property
    def logs(self) -> Floats:
        """Logarithms of the numbers that are learned."""
        return kernel_logs(self.centre)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Of those logarithms."""
        reach = ((-3.0, 3.0), (-3.0, 3.0), (-4.0, 2.0))
        return [(log + low, log + high) for log, (low, high) in zip(self.logs, reach, strict=False)]

    def log_density(self, logs: Floats) -> float:
        """Without constants."""
        return -0.5 * float(np.square(logs - self.logs).sum())


def kernel_logs(kernel: Kernel) -> Floats:
    """Logarithms of a kernel's numbers that are not 0."""
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


def climb_kernel(
    squared: Floats, labels: CrowdLabels, crowd: CrowdPosterior, sites: Sites, kernel: Kernel, prior: KernelPrior,
    learner: Learner,
) -> tuple[Kernel, Sites]:  # fmt: skip
    """Raise evidence and prior in the kernel's numbers by L-BFGS-B, the crowd fixed.

    Parameters
    ----------
    squared : ndarray of shape (n, n)
        Squared distances of the items.
    labels, crowd, sites, learner
        As in `learn_at_kernel`.
    kernel, prior
        Where to begin, and what is believed.
    """
    evidence, noise = evidence_of(labels, crowd), np.ones(labels.n_items)
    warm = [sites]

    def fall(logs: Floats) -> tuple[float, Floats]:
        trial = kernel_of(logs)
        engine = DenseEngine(trial.of_distances(squared))
        found = propagate(engine, evidence, noise, warm[0], _OF_KERNEL, check=learner.check)
        warm[0] = found.sites
        gradient = kernel_gradient(found, log_gradients(trial, squared))
        return -(found.log_evidence + prior.log_density(logs)), -(gradient - (logs - prior.logs))

    options = {"maxfun": _KERNEL_EVALUATIONS, "ftol": _KERNEL_GAIN, "gtol": _KERNEL_SLOPE}
    best = minimize(fall, kernel_logs(kernel), jac=True, method="L-BFGS-B", bounds=prior.bounds, options=options)
    return kernel_of(best.x), warm[0]


def learn_with_kernel(
    squared: Floats, labels: CrowdLabels, crowd: CrowdPosterior, sites: Sites, kernel: Kernel, prior: KernelPrior,
    learner: Learner,
) -> tuple[LearnedCrowd, Kernel]:  # fmt: skip
    """Learn crowd and kernel in turn, at most four times.

    Parameters
    ----------
    squared, labels, crowd, sites, kernel, prior, learner
        As in `climb_kernel`.
    """
    noise, turned = np.ones(labels.n_items), False
    for _ in range(_ROUNDS):
        result = learn_at_kernel(DenseEngine(kernel.of_distances(squared)), noise, labels, crowd, sites, learner)
        turned |= result.turned
        crowd = result.crowd
        new, sites = climb_kernel(squared, labels, crowd, result.propagated.sites, kernel, prior, learner)
        moved = float(np.abs(kernel_logs(new) - kernel_logs(kernel)).max())
        kernel = new
        if moved < _KERNEL_TOLERANCE:
            break
    engine = DenseEngine(kernel.of_distances(squared))
    return finish(engine, noise, labels, replace(result, turned=turned), learner), kernel


def finish(engine: Engine, noise: Floats, labels: CrowdLabels, result: LearnedCrowd, learner: Learner) -> LearnedCrowd:
    """Propagate finely with what was learned."""
    evidence = evidence_of(labels, result.crowd)
    found = propagate(engine, evidence, noise, result.propagated.sites, FINE, check=learner.check)
    return replace(result, propagated=found, converged=result.converged and found.residual < ROUGH)


def some_items(count: int, most: int, rng: np.random.Generator) -> Codes:
    """So many random items at most, in ascending order."""
    return np.arange(count) if count <= most else np.sort(rng.choice(count, most, replace=False))
