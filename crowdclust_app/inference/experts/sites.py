"""Likelihoods of the labels of each item under two levels of label noise, in log space (long2016, equations 37 to 44).

Item `i` has a clean class `h_i`, the sign of a Gaussian process with noise; the label `y_i` that skilled workers agree
on is `h_i` with probability `xi` (agreement), and worker `j` says `y_i` with probability `eps_j` (expertise).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from crowdclust_app.inference.aggregators.label_table import Codes, Floats, weighted_sums

_HALF_LOG_2PI = 0.5 * np.log(2.0 * np.pi)

EXPERTISE_LIMITS = (1e-4, 1.0 - 1e-4)
AGREEMENT_LIMITS = (0.501, 0.9999)


@dataclass(frozen=True)
class WorkerLabels:
    """Labels of `n` items by `R` workers, one entry for each (item, worker) pair with any.

    Parameters
    ----------
    n_items, n_workers
        `n` and `R`.
    item, worker : ndarray of shape (E,)
        Who was asked about what.
    yes, no : ndarray of shape (E,)
        How often this worker said yes and no of this item.
    fixed : ndarray of shape (R,)
        Workers whose expertise is known and not learned (the gold labels).
    """

    n_items: int
    n_workers: int
    item: Codes
    worker: Codes
    yes: Floats
    no: Floats
    fixed: NDArray[np.bool_]

    @cached_property
    def item_counts(self) -> Floats:
        """Labels of each item; shape (n,)."""
        return weighted_sums(self.item, self.yes + self.no, self.n_items)

    @cached_property
    def worker_counts(self) -> Floats:
        """Labels of each worker; shape (R,)."""
        return weighted_sums(self.worker, self.yes + self.no, self.n_workers)

    @cached_property
    def vote_shares(self) -> Floats:
        """`(n+ + .5) / (n+ + n- + 1)`; shape (n,)."""
        yes = weighted_sums(self.item, self.yes, self.n_items)
        return (yes + 0.5) / (self.item_counts + 1.0)

    def take(self, items: Codes) -> WorkerLabels:
        """Keep these items, renumbered in this order; workers keep their numbers."""
        number = np.full(self.n_items, -1, dtype=np.int64)
        number[items] = np.arange(len(items))
        kept = number[self.item] >= 0
        return WorkerLabels(
            len(items), self.n_workers, number[self.item[kept]], self.worker[kept], self.yes[kept], self.no[kept],
            self.fixed,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class WorkerPosterior:
    """Point estimates of the workers' expertise and of the label noise that they share.

    Parameters
    ----------
    expertise : ndarray of shape (R,)
        `eps_j`.
    agreement
        `xi`; 1 less the global label noise.
    right : ndarray of shape (R,)
        How many of each worker's labels are expected to be right.
    """

    expertise: Floats
    agreement: float
    right: Floats


@dataclass(frozen=True, slots=True)
class LabelLikelihoods:
    """Log-likelihoods of each item's labels, given `y = +1` and `-1`, and given a clean class of `+1` and `-1`.

    Parameters
    ----------
    yes, no : ndarray of shape (n,)
        `la_i` and `lb_i`.
    agreement
        `xi`.
    positive, negative : ndarray of shape (n,)
        `log C2` and `log C1`.
    """

    yes: Floats
    no: Floats
    agreement: float
    positive: Floats
    negative: Floats

    def take(self, items: Codes) -> LabelLikelihoods:
        """Of these items, in this order."""
        return LabelLikelihoods(
            self.yes[items], self.no[items], self.agreement, self.positive[items], self.negative[items]
        )  # fmt: skip

    @property
    def informativeness(self) -> Floats:
        """`kappa_i = |tanh((log C2 - log C1) / 2)|`: 0 where the labels say nothing, 1 where they decide."""
        return np.abs(np.tanh(0.5 * (self.positive - self.negative)))


def label_likelihoods(labels: WorkerLabels, workers: WorkerPosterior) -> LabelLikelihoods:
    """Compute `log C1` and `log C2` (equations 39 and 40), in log space: products of many labels underflow."""
    log_right, log_wrong = np.log(workers.expertise), np.log1p(-workers.expertise)
    right, wrong = log_right[labels.worker], log_wrong[labels.worker]
    yes = weighted_sums(labels.item, labels.yes * right + labels.no * wrong, labels.n_items)
    no = weighted_sums(labels.item, labels.yes * wrong + labels.no * right, labels.n_items)
    log_same, log_other = np.log(workers.agreement), np.log1p(-workers.agreement)
    positive = np.logaddexp(log_same + yes, log_other + no)
    negative = np.logaddexp(log_other + yes, log_same + no)
    return LabelLikelihoods(yes, no, workers.agreement, positive, negative)


@dataclass(frozen=True, slots=True)
class SiteUpdate:
    """Moment matching at every site.

    Parameters
    ----------
    log_z : ndarray of shape (n,)
        Logarithm of equation 43.
    slope, curvature : ndarray of shape (n,)
        `alpha = d log Z / dm` and `beta = -d2 log Z / dm2`.
    precision, shift : ndarray of shape (n,)
        The site's new natural parameters `tau` (of either sign) and `nu`.
    z : ndarray of shape (n,)
        Cavity mean over its standard deviation, noise included.
    """

    log_z: Floats
    slope: Floats
    curvature: Floats
    precision: Floats
    shift: Floats
    z: Floats


def update_sites(mean: Floats, variance: Floats, noise: Floats, likelihoods: LabelLikelihoods) -> SiteUpdate:
    """Match moments (equations 45 to 47 in natural parameters, which stay finite where those are singular).

    Parameters
    ----------
    mean, variance : ndarray of shape (n,)
        Of the cavity.
    noise : ndarray of shape (n,)
        White noise of each site, added to the cavity's variance.
    likelihoods
        Of the same items.
    """
    total = variance + noise
    deviation = np.sqrt(total)
    z = mean / deviation
    log_z = np.logaddexp(likelihoods.positive + log_ndtr(z), likelihoods.negative + log_ndtr(-z))
    # log |C2 - C1| by way of the larger of the two: a difference of exponentials would lose all digits, or be 0 / 0
    gap = likelihoods.positive - likelihoods.negative
    size = np.abs(gap)
    with np.errstate(divide="ignore"):  # labels that say nothing have a slope of exp(-inf) = 0
        log_difference = np.maximum(likelihoods.positive, likelihoods.negative) + np.log(-np.expm1(-size))
    slope = np.sign(gap) * np.exp(log_difference - 0.5 * z * z - _HALF_LOG_2PI - log_z)
    curvature = slope * (slope + z) / total
    slope = slope / deviation
    # a negative curvature, where labels contradict the features, gives a site of negative precision; it is kept, since
    # without it the fixed point would be another one
    left = 1.0 - variance * curvature
    return SiteUpdate(log_z, slope, curvature, curvature / left, (slope + mean * curvature) / left, z)


@dataclass(frozen=True, slots=True)
class Responsibilities:
    """Probabilities of each item's classes under the tilted distribution: given its labels and all others'.

    Parameters
    ----------
    consensus : ndarray of shape (n,)
        `r_i = P(y_i = +1)`: what skilled workers agree on.
    agrees : ndarray of shape (n,)
        `q_i = P(y_i = h_i)`.
    clean : ndarray of shape (n,)
        `p_i = P(h_i = +1)`: the class that the features have.
    """

    consensus: Floats
    agrees: Floats
    clean: Floats


def responsibilities(z: Floats, likelihoods: LabelLikelihoods) -> Responsibilities:
    """Weigh the four cases of `(h, y)` at cavities `z`; shape (n,) each."""
    log_same, log_other = np.log(likelihoods.agreement), np.log1p(-likelihoods.agreement)
    up, down = log_ndtr(z), log_ndtr(-z)
    logs = np.stack(
        [up + log_same + likelihoods.yes, up + log_other + likelihoods.no,
         down + log_other + likelihoods.yes, down + log_same + likelihoods.no]
    )  # fmt: skip
    weights = np.exp(logs - logs.max(axis=0))
    weights /= weights.sum(axis=0)
    return Responsibilities(weights[0] + weights[2], weights[0] + weights[3], weights[0] + weights[1])


@dataclass(frozen=True, slots=True)
class WorkerPriors:
    """Beta priors of every worker's expertise and of the agreement; all above 1, so that no mode is at 0 or 1."""

    expertise: tuple[float, float] = (3.0, 2.0)
    agreement: tuple[float, float] = (20.0, 2.0)

    def log_density(self, workers: WorkerPosterior, learned: NDArray[np.bool_]) -> float:
        """Log prior of what is learned of the workers, without constants."""
        of_workers, (a, b) = workers.expertise[learned], self.expertise
        total = float((a - 1.0) * np.log(of_workers).sum() + (b - 1.0) * np.log1p(-of_workers).sum())
        a, b = self.agreement
        return total + float((a - 1.0) * np.log(workers.agreement) + (b - 1.0) * np.log1p(-workers.agreement))


def update_expertise(
    labels: WorkerLabels, consensus: Floats, priors: WorkerPriors, known: Floats
) -> tuple[Floats, Floats]:
    """Estimate every worker's expertise in closed form.

    Parameters
    ----------
    labels
        The labels.
    consensus : ndarray of shape (n,)
        `r_i`.
    priors
        Of the expertise.
    known : ndarray of shape (R,)
        Taken over where `labels.fixed`.

    Returns
    -------
    expertise, right : ndarray of shape (R,)
        Mode of the posterior, and the expected number of right labels.
    """
    sure = consensus[labels.item]
    weights = labels.yes * sure + labels.no * (1.0 - sure)
    right = weighted_sums(labels.worker, weights, labels.n_workers)
    a, b = priors.expertise
    mode = np.clip((a - 1.0 + right) / (a + b - 2.0 + labels.worker_counts), *EXPERTISE_LIMITS)
    return np.where(labels.fixed, known, mode), right


def update_workers(
    labels: WorkerLabels, found: Responsibilities, priors: WorkerPriors, workers: WorkerPosterior
) -> WorkerPosterior:
    """Do one M-step over all labelled items (docs/experts.md, section 6)."""
    expertise, right = update_expertise(labels, found.consensus, priors, workers.expertise)
    a, b = priors.agreement
    agreement = (a - 1.0 + found.agrees.sum()) / (a + b - 2.0 + labels.n_items)
    return WorkerPosterior(expertise, float(np.clip(agreement, *AGREEMENT_LIMITS)), right)


def largest_change(old: WorkerPosterior, new: WorkerPosterior) -> float:
    """Largest difference of an expertise or of the agreement."""
    moved = np.abs(old.expertise - new.expertise).max(initial=0.0)
    return max(float(moved), abs(old.agreement - new.agreement))
