"""Predictive active sets: a few items that stand for many (docs/experts.md, section 10; henao2012).

Members are chosen while expectation propagation runs on them alone; expertise and noise are always learned from every
labelled item. The last step uses all labels again, with the members as inducing points (FITC, quinonero2005).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.label_table import Codes, Floats
from crowdclust_app.inference.experts.generalised_em import (
    EMSettings,
    LearnedWorkers,
    inner_em_steps,
    is_mirrored,
    learn_workers,
    mirror,
    propagate_finely,
)
from crowdclust_app.inference.experts.kernel import Kernel, squared_distances
from crowdclust_app.inference.experts.posterior import DenseEngine, FactorEngine, GaussianPosterior
from crowdclust_app.inference.experts.propagation import Propagated, Sites, propagate
from crowdclust_app.inference.experts.sites import (
    LabelLikelihoods,
    WorkerLabels,
    WorkerPosterior,
    label_likelihoods,
    largest_change,
    update_sites,
)
from crowdclust_app.inference.experts.triangular_solves import NotPositiveDefiniteError, cholesky, solve_lower

Rule = Literal["variance", "predictive", "random"]
RULES: tuple[Rule, ...] = get_args(Rule)

# Items predicted at once, so that the table of their covariances with the members stays small.
CHUNK = 4000
# Of expectation propagation while members are chosen, which the next members change anyway.
_TOLERANCE = 1e-3
# Random members that the choice starts from, and EM steps before their scores are worth anything.
_FIRST_MEMBERS = 100
_FIRST_EM_STEPS = 3
_LAST_EM_STEPS = 10
_LAST_TOLERANCE = 3e-3
_FEWEST_MEMBERS = 10
# Items whose labels contradict each other have a site of nearly no precision, wherever the boundary lies.
_LEAST_INFORMATIVE = 0.2
# Share of the members that leave for better ones at once: scores are stale as soon as the set has changed.
_REPLACED_SHARE = 0.1
# Score above which members leave, and below which items come in; between them nothing changes, so that the set settles.
_LIMITS: dict[str, tuple[float, float]] = {"variance": (0.99, 0.9), "predictive": (0.99, 0.6)}
# Shares of the variance added to the diagonal until rounding leaves it positive definite, the smallest first.
_JITTERS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4)


@dataclass(frozen=True, slots=True)
class ActiveSet:
    """How members are chosen, and whether all labels are used in the end.

    Parameters
    ----------
    size
        Members at most.
    rule
        `"variance"`: items whose site would narrow the posterior most. `"predictive"`: items that are predicted badly,
        the published rule; for labels that are nearly all right, since of workers' labels it collects the mistaken
        ones. `"random"`: no choice at all, to compare with.
    refit
        Whether all labelled items get their sites back in the end, with the members as inducing points.
    passes, subsets
        How often all items are gone through, in so many random parts.
    """

    size: int = 400
    rule: Rule = "variance"
    refit: bool = True
    passes: int = 2
    subsets: int = 10

    def check(self) -> None:
        """Refuse settings out of range.

        Raises
        ------
        InvalidInputError
            When the rule is unknown or a number too small.
        """
        if self.rule not in RULES:
            raise InvalidInputError(f"the rule {self.rule!r} is unknown", todo=f"take one of {', '.join(RULES)}")
        if self.size < 2 or self.passes < 1 or self.subsets < 1:
            raise InvalidInputError("an active set needs a size of at least 2 and one pass and subset", todo="raise it")


@dataclass(frozen=True, slots=True)
class DenseField:
    """The posterior process with a site at each of some items, which predicts others.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Features of the sites.
    kernel
        The covariance.
    posterior
        A `DensePosterior`.
    """

    X: Floats
    kernel: Kernel
    posterior: GaussianPosterior

    def predict(self, X: Floats) -> tuple[Floats, Floats]:
        """Mean and variance at new items with features (k, D); shape (k,) each."""
        prior = np.full(len(X), self.kernel.variance)
        return self.posterior.predict(self.kernel.between(self.X, X), prior)


@dataclass(frozen=True, slots=True)
class FactorField:
    """The posterior process of low rank, given at inducing points.

    Parameters
    ----------
    Z : ndarray of shape (m, D)
        Features of the inducing points.
    lower : ndarray of shape (m, m)
        Cholesky factor of their covariances.
    kernel
        The covariance.
    posterior
        A `FactorPosterior`.
    """

    Z: Floats
    lower: Floats
    kernel: Kernel
    posterior: GaussianPosterior

    def predict(self, X: Floats) -> tuple[Floats, Floats]:
        """Mean and variance at new items with features (k, D); shape (k,) each."""
        factor = solve_lower(self.lower, self.kernel.between(X, self.Z).T)
        left = np.maximum(self.kernel.variance - np.einsum("ij,ij->j", factor, factor), 0.0)
        return self.posterior.predict(factor, left)


def predict_in_chunks(
    known: DenseField | FactorField, X: Floats, check: Callable[[], None] | None = None
) -> tuple[Floats, Floats]:
    """Predict any number of items, `CHUNK` at a time; shape (k,) each."""
    mean, variance = np.empty(len(X)), np.empty(len(X))
    for begin in range(0, len(X), CHUNK):
        if check is not None:
            check()
        part = slice(begin, begin + CHUNK)
        mean[part], variance[part] = known.predict(X[part])
    return mean, variance


def inducing_factor(kernel: Kernel, Z: Floats) -> Floats:
    """Cholesky factor of the inducing points' covariances, with as little jitter as will do; shape (m, m)."""
    covariances = kernel.between(Z, Z)
    diagonal = np.diag_indices_from(covariances)
    # points that nearly coincide make the matrix numerically singular; more jitter than needed would blur the process
    for jitter in _JITTERS:
        tried = covariances.copy()
        tried[diagonal] += jitter * kernel.variance
        try:
            return cholesky(tried)
        except NotPositiveDefiniteError:
            continue
    raise FloatingPointError("the inducing points' covariances have no factor")


def refit_all(
    X: Floats, Z: Floats, kernel: Kernel, labels: WorkerLabels, workers: WorkerPosterior, sites: Sites, em: EMSettings
) -> tuple[LearnedWorkers, FactorField]:
    """Learn with a site for every labelled item, the process given at inducing points `Z` (FITC).

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Features of the labelled items.
    Z : ndarray of shape (m, D)
        Of the inducing points.
    kernel, labels, workers, sites, em
        As in `learn_workers`.
    """
    lower = inducing_factor(kernel, Z)
    factor = np.empty((len(Z), len(X)), order="F")
    for begin in range(0, len(X), CHUNK):
        em.check()
        part = slice(begin, begin + CHUNK)
        factor[:, part] = solve_lower(lower, kernel.between(X[part], Z).T)
    # FITC: what the inducing points leave of an item's variance is noise of its own; 1 is the probit's
    noise = 1.0 + np.maximum(kernel.variance - np.einsum("ij,ij->j", factor, factor), 0.0)
    engine = FactorEngine(factor.T)
    result = learn_workers(engine, noise, labels, workers, sites, em)
    result = propagate_finely(engine, noise, labels, result, em)
    return result, FactorField(Z, lower, kernel, result.propagated.posterior)


@dataclass
class Selection:
    """Members of an active set while they are chosen.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Features of the labelled items.
    kernel, labels, em
        As in `learn_workers`.
    workers
        The current estimate.
    members : ndarray of shape (a,)
        Rows of `X`.
    sites
        Of the members.
    """

    X: Floats
    kernel: Kernel
    labels: WorkerLabels
    em: EMSettings
    workers: WorkerPosterior
    members: Codes
    sites: Sites = field(init=False)
    found: Propagated = field(init=False)
    likelihoods: LabelLikelihoods = field(init=False)

    def __post_init__(self) -> None:
        self.sites = Sites.none(len(self.members))
        self._squared = squared_distances(self.X[self.members], self.X[self.members])
        self.propagate()

    def propagate(self, tolerance: float = _TOLERANCE) -> None:
        """Run expectation propagation on the members."""
        self.likelihoods = label_likelihoods(self.labels, self.workers)
        engine = DenseEngine(self.kernel.of_distances(self._squared))
        ones = np.ones(len(self.members))
        self.found = propagate(
            engine, self.likelihoods.take(self.members), ones, self.sites, tolerance, check=self.em.check
        )
        self.sites = self.found.sites

    @property
    def field(self) -> DenseField:
        """The posterior process given the members."""
        return DenseField(self.X[self.members], self.kernel, self.found.posterior)

    def moments(self, items: Codes) -> tuple[Floats, Floats]:
        """Mean and variance at these items without their own sites: cavities of members, predictions of others."""
        mean, variance = predict_in_chunks(self.field, self.X[items], self.em.check)
        place = np.full(len(self.X), -1, dtype=np.int64)
        place[self.members] = np.arange(len(self.members))
        # a member's prediction contains its own site; the cavity does not, so its labels are not counted twice
        inside = place[items] >= 0
        mean[inside] = self.found.cavity_mean[place[items[inside]]]
        variance[inside] = self.found.cavity_variance[place[items[inside]]]
        return mean, variance

    def em_step(self) -> float:
        """One EM step for the workers, over all labelled items; the largest change."""
        mean, variance = self.moments(np.arange(len(self.X)))
        z = mean / np.sqrt(variance + 1.0)
        new = inner_em_steps(self.labels, self.workers, z, self.em.priors)
        change = largest_change(self.workers, new)
        self.workers = new
        self.propagate()
        density = self.em.priors.log_density(new, ~self.labels.fixed)
        self.em.report(change, self.found.log_evidence + density)
        return change

    def run_em(self) -> None:
        """EM steps until the workers' parameters have converged."""
        for _ in range(_LAST_EM_STEPS):
            if self.em_step() < _LAST_TOLERANCE:
                break

    def undo_label_switching(self) -> bool:
        """Exchange the classes where the result is mirrored; whether it was."""
        if not is_mirrored(self.workers, self.labels, self.em):
            return False
        self.workers = mirror(self.workers, self.labels)
        # exchanged classes mirror the latent function: precisions stay, shifts change sign
        self.sites = Sites(self.sites.precision, -self.sites.shift)
        self.propagate()
        self.run_em()
        return True

    def scores(self, items: Codes, rule: Rule) -> Floats:
        """How little each item's site would change: 1 for nothing; shape (k,).

        `"variance"`: the share of the variance that the site leaves. `"predictive"`: the probability that the item is
        predicted as labelled (henao2012).
        """
        mean, variance = self.moments(items)
        likelihoods = self.likelihoods.take(items)
        update = update_sites(mean, variance, np.ones(len(items)), likelihoods)
        if rule == "variance":
            return np.minimum(1.0, 1.0 - variance * update.curvature)
        return np.asarray(ndtr(np.sign(likelihoods.positive - likelihoods.negative) * update.z))

    def replace_members(self, items: Codes, settings: ActiveSet) -> None:
        """Drop the members whose sites change nothing, and add those of these items whose sites change most."""
        leave, enter = _LIMITS[settings.rule]
        size = min(settings.size, len(self.X))
        of_members = self.scores(self.members, settings.rule)
        informative = self.likelihoods.informativeness >= _LEAST_INFORMATIVE
        kept = (of_members <= leave) & informative[self.members]
        _keep_at_least(kept, of_members, min(_FEWEST_MEMBERS, size))
        of_items = self.scores(items, settings.rule)
        coming = (of_items < enter) & informative[items]
        # best first; where there is not enough room, the least useful members make some
        candidates = items[coming][np.argsort(of_items[coming], kind="stable")]
        short = len(candidates) - (size - int(kept.sum()))
        if short > 0:
            most = min(short, int(_REPLACED_SHARE * size), int(kept.sum()) - min(_FEWEST_MEMBERS, size))
            order = np.argsort(np.where(kept, -of_members, np.inf), kind="stable")
            kept[order[: max(most, 0)]] = False
        candidates = candidates[: size - int(kept.sum())]
        self._set_members(kept, candidates)

    def _set_members(self, kept: NDArray[np.bool_], new: Codes) -> None:
        if kept.all() and not len(new):
            return
        self.members = np.concatenate([self.members[kept], new])
        zeros = np.zeros(len(new))
        self.sites = Sites(
            np.concatenate([self.sites.precision[kept], zeros]), np.concatenate([self.sites.shift[kept], zeros])
        )
        self._squared = squared_distances(self.X[self.members], self.X[self.members])
        self.propagate()


def _keep_at_least(kept: NDArray[np.bool_], scores: Floats, count: int) -> None:
    missing = count - int(kept.sum())
    if missing > 0:
        gone = np.flatnonzero(~kept)
        kept[gone[np.argsort(scores[gone], kind="stable")[:missing]]] = True


def select(
    X: Floats, kernel: Kernel, labels: WorkerLabels, workers: WorkerPosterior, settings: ActiveSet, em: EMSettings,
    rng: np.random.Generator,
) -> tuple[Selection, bool]:  # fmt: skip
    """Choose an active set, its workers learned from all labelled items.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Features of the labelled items.
    kernel, labels, workers, em
        As in `learn_workers`.
    settings
        How it is chosen.
    rng
        Of the first members and of the subsets.

    Returns
    -------
    selection
        The members, and the workers learned with them.
    mirrored
        Whether the classes had to be exchanged.
    """
    start = settings.size if settings.rule == "random" else min(_FIRST_MEMBERS, settings.size)
    first = rng.choice(len(X), min(start, len(X)), replace=False)
    chosen = Selection(X, kernel, labels, em, workers, np.sort(first))
    for _ in range(_FIRST_EM_STEPS):
        chosen.em_step()
    for _ in range(0 if settings.rule == "random" else settings.passes):
        outside = np.setdiff1d(np.arange(len(X)), chosen.members)
        for subset in np.array_split(rng.permutation(outside), settings.subsets):
            new = np.setdiff1d(subset, chosen.members)
            chosen.replace_members(new, settings)
        chosen.em_step()
    chosen.run_em()
    mirrored = chosen.undo_label_switching()
    return chosen, mirrored


def learned_from_members(chosen: Selection, mirrored: bool) -> LearnedWorkers:
    """The workers as learned with the sites of the members alone."""
    chosen.propagate(1e-6)
    return LearnedWorkers(chosen.workers, chosen.found, chosen.found.converged, mirrored)
