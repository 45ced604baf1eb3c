"""Predictive active sets: a few items that stand for many (docs/experts.md, section 10; henao2012).

Members are chosen while expectation propagation runs on them alone; expertise and noise are always learned from every
labelled item. The last step lets all labels speak again, through the members as inducing points (FITC, quinonero2005).
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
from crowdclust_app.inference.experts.crowd_learning import (
    LearnedCrowd,
    Learner,
    expected_steps,
    finish,
    learn_at_kernel,
    mirrored,
    stands_on_its_head,
)
from crowdclust_app.inference.experts.kernel import Kernel, squared_distances
from crowdclust_app.inference.experts.posterior import DenseEngine, FactorEngine, GaussianPosterior
from crowdclust_app.inference.experts.propagation import Propagated, Sites, propagate
from crowdclust_app.inference.experts.sites import (
    CrowdLabels,
    CrowdPosterior,
    LabelLikelihoods,
    evidence_of,
    largest_change,
    update_sites,
)
from crowdclust_app.inference.experts.triangular_solves import NotPositiveDefiniteError, cholesky, solve_lower

Rule = Literal["variance", "predictive", "random"]
RULES: tuple[Rule, ...] = get_args(Rule)

CHUNK = 4000
_TOLERANCE = 1e-3
_START = 100
_FIRST_STEPS = 3
_LAST_STEPS = 10
_LAST_CHANGE = 3e-3
_FEWEST = 10
_LEAST_INFORMATIVE = 0.2
_EXCHANGED = 0.1
# From where members leave, and up to where others come in.
_LIMITS: dict[str, tuple[float, float]] = {"variance": (0.99, 0.9), "predictive": (0.99, 0.6)}
_JITTERS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4)


@dataclass(frozen=True, slots=True)
class ActiveSet:
    """How members are chosen, and whether all labels speak in the end.

    Parameters
    ----------
    size
        Members at most.
    rule
        `"variance"`: items whose site would narrow the posterior most. `"predictive"`: items that are predicted badly,
        the published rule; for labels that are nearly all right, since from a crowd it collects the mistaken ones.
        `"random"`: no choice at all, to compare with.
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
        """Refuse what is no such setting.

        Raises
        ------
        InvalidInputError
            Saying which.
        """
        if self.rule not in RULES:
            raise InvalidInputError(f"the rule {self.rule!r} is unknown", todo=f"take one of {', '.join(RULES)}")
        if self.size < 2 or self.passes < 1 or self.subsets < 1:
            raise InvalidInputError("an active set needs a size of at least 2 and one pass and subset", todo="raise it")


@dataclass(frozen=True, slots=True)
class DenseField:
    """A process known at items with features `X`, to predict others from.

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
    """A process of low rank, known through inducing points.

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
    """Predict any number of items without a table of all covariances; shape (k,) each."""
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
    for jitter in _JITTERS:
        tried = covariances.copy()
        tried[diagonal] += jitter * kernel.variance
        try:
            return cholesky(tried)
        except NotPositiveDefiniteError:
            continue
    raise FloatingPointError("the inducing points' covariances have no factor")


def refit_all(
    X: Floats, Z: Floats, kernel: Kernel, labels: CrowdLabels, crowd: CrowdPosterior, sites: Sites, learner: Learner
) -> tuple[LearnedCrowd, FactorField]:
    """Give all labelled items their sites, with inducing points `Z` (FITC).

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Features of the labelled items.
    Z : ndarray of shape (m, D)
        Of the inducing points.
    kernel, labels, crowd, sites, learner
        As in `learn_at_kernel`.
    """
    lower = inducing_factor(kernel, Z)
    factor = np.empty((len(Z), len(X)), order="F")
    for begin in range(0, len(X), CHUNK):
        learner.check()
        part = slice(begin, begin + CHUNK)
        factor[:, part] = solve_lower(lower, kernel.between(X[part], Z).T)
    noise = 1.0 + np.maximum(kernel.variance - np.einsum("ij,ij->j", factor, factor), 0.0)
    engine = FactorEngine(factor.T)
    result = learn_at_kernel(engine, noise, labels, crowd, sites, learner)
    result = finish(engine, noise, labels, result, learner)
    return result, FactorField(Z, lower, kernel, result.propagated.posterior)


@dataclass
class Selection:
    """Members of an active set while they are chosen.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Features of the labelled items.
    kernel, labels, learner
        What is learned from.
    crowd
        As believed now.
    members : ndarray of shape (a,)
        Who is in.
    sites
        Of the members.
    """

    X: Floats
    kernel: Kernel
    labels: CrowdLabels
    learner: Learner
    crowd: CrowdPosterior
    members: Codes
    sites: Sites = field(init=False)
    found: Propagated = field(init=False)
    evidence: LabelLikelihoods = field(init=False)

    def __post_init__(self) -> None:
        self.sites = Sites.none(len(self.members))
        self._squared = squared_distances(self.X[self.members], self.X[self.members])
        self.propagate()

    def propagate(self, tolerance: float = _TOLERANCE) -> None:
        """Run expectation propagation on the members."""
        self.evidence = evidence_of(self.labels, self.crowd)
        engine = DenseEngine(self.kernel.of_distances(self._squared))
        ones = np.ones(len(self.members))
        self.found = propagate(
            engine, self.evidence.take(self.members), ones, self.sites, tolerance, check=self.learner.check
        )
        self.sites = self.found.sites

    @property
    def field(self) -> DenseField:
        """The members' posterior."""
        return DenseField(self.X[self.members], self.kernel, self.found.posterior)

    def moments(self, items: Codes) -> tuple[Floats, Floats]:
        """Mean and variance at these items, without their own sites: cavities of members, predictions of others."""
        mean, variance = predict_in_chunks(self.field, self.X[items], self.learner.check)
        place = np.full(len(self.X), -1, dtype=np.int64)
        place[self.members] = np.arange(len(self.members))
        inside = place[items] >= 0
        mean[inside] = self.found.cavity_mean[place[items[inside]]]
        variance[inside] = self.found.cavity_variance[place[items[inside]]]
        return mean, variance

    def step(self) -> float:
        """Learn the crowd once from all labelled items; gives the largest change."""
        mean, variance = self.moments(np.arange(len(self.X)))
        z = mean / np.sqrt(variance + 1.0)
        new = expected_steps(self.labels, self.crowd, z, self.learner.priors)
        change = largest_change(self.crowd, new)
        self.crowd = new
        self.propagate()
        density = self.learner.priors.log_density(new, ~self.labels.fixed)
        self.learner.step(change, self.found.log_evidence + density)
        return change

    def settle(self) -> None:
        """Learn the crowd until it stands still."""
        for _ in range(_LAST_STEPS):
            if self.step() < _LAST_CHANGE:
                break

    def turn(self) -> bool:
        """Turn everything when it stands on its head; gives whether it did."""
        if not stands_on_its_head(self.crowd, self.labels, self.learner):
            return False
        self.crowd = mirrored(self.crowd, self.labels)
        self.sites = Sites(self.sites.precision, -self.sites.shift)
        self.propagate()
        self.settle()
        return True

    def scores(self, items: Codes, rule: Rule) -> Floats:
        """How little each item's site would tell: 1 for nothing; shape (k,)."""
        mean, variance = self.moments(items)
        evidence = self.evidence.take(items)
        update = update_sites(mean, variance, np.ones(len(items)), evidence)
        if rule == "variance":
            return np.minimum(1.0, 1.0 - variance * update.curvature)
        return np.asarray(ndtr(np.sign(evidence.positive - evidence.negative) * update.z))

    def exchange(self, items: Codes, settings: ActiveSet) -> None:
        """Let members that tell nothing go, and those of these items in that tell most."""
        leave, enter = _LIMITS[settings.rule]
        size = min(settings.size, len(self.X))
        of_members = self.scores(self.members, settings.rule)
        speaks = self.evidence.informativeness >= _LEAST_INFORMATIVE
        kept = (of_members <= leave) & speaks[self.members]
        _keep_at_least(kept, of_members, min(_FEWEST, size))
        of_items = self.scores(items, settings.rule)
        coming = (of_items < enter) & speaks[items]
        candidates = items[coming][np.argsort(of_items[coming], kind="stable")]
        short = len(candidates) - (size - int(kept.sum()))
        if short > 0:
            most = min(short, int(_EXCHANGED * size), int(kept.sum()) - min(_FEWEST, size))
            order = np.argsort(np.where(kept, -of_members, np.inf), kind="stable")
            kept[order[: max(most, 0)]] = False
        candidates = candidates[: size - int(kept.sum())]
        self._become(kept, candidates)

    def _become(self, kept: NDArray[np.bool_], new: Codes) -> None:
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
    X: Floats, kernel: Kernel, labels: CrowdLabels, crowd: CrowdPosterior, settings: ActiveSet, learner: Learner,
    rng: np.random.Generator,
) -> tuple[Selection, bool]:  # fmt: skip
    """Choose an active set, its crowd learned from all labelled items.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Features of the labelled items.
    kernel, labels, crowd, learner
        As in `learn_at_kernel`.
    settings
        How it is chosen.
    rng
        Of the first members and of the subsets.

    Returns
    -------
    selection
        The members and what is believed.
    turned
        Whether everything stood on its head.
    """
    start = settings.size if settings.rule == "random" else min(_START, settings.size)
    first = rng.choice(len(X), min(start, len(X)), replace=False)
    chosen = Selection(X, kernel, labels, learner, crowd, np.sort(first))
    for _ in range(_FIRST_STEPS):
        chosen.step()
    for _ in range(0 if settings.rule == "random" else settings.passes):
        outside = np.setdiff1d(np.arange(len(X)), chosen.members)
        for subset in np.array_split(rng.permutation(outside), settings.subsets):
            new = np.setdiff1d(subset, chosen.members)
            chosen.exchange(new, settings)
        chosen.step()
    chosen.settle()
    turned = chosen.turn()
    return chosen, turned


def result_of(chosen: Selection, turned: bool) -> LearnedCrowd:
    """What an active set alone has learned."""
    chosen.propagate(1e-6)
    return LearnedCrowd(chosen.crowd, chosen.found, chosen.found.converged, turned)
