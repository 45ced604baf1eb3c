"""Fit the learners (`experts`, `gp`) to labels and features, as the aggregators are fitted to labels alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import no_convergence_warning
from crowdclust_app.inference.aggregators import FitStep, LabelTable
from crowdclust_app.inference.experts import GaussianProcessExperts, Learner, LogisticExperts
from crowdclust_app.services.verify.features import Aligned, FeatureTable, align_features

RIDGE = 1.0
"""Precision of the weights of `experts`: with a few hundred items and dozens of features a weaker one learns by heart
(digits .83 against .89, breast cancer .94 against .97 at the same labels)."""


def make_learner(
    name: str,
    *,
    prior: tuple[float, float] | None = None,
    prevalence: float | str | None = None,
    ties: str = "undecided",
    seed: int = 0,
    own_scale: bool = False,
) -> Learner:
    """Make a learner.

    Parameters
    ----------
    name
        `experts` or `gp`.
    prior
        Beta prior of every worker; what each is known for when None.
    prevalence
        As in `Aggregator`, for `experts` without features.
    ties, seed
        As in `Aggregator`.
    own_scale
        Whether the features' spreads mean something; `gp` leaves them as they are then.
    """
    if name == LogisticExperts.name:
        learner = LogisticExperts(ridge=RIDGE, prevalence=prevalence, ties=ties, seed=seed)  # type: ignore[arg-type]  # checked there
        return learner if prior is None else learner.set_params(prior=prior)
    process = GaussianProcessExperts(standardise=not own_scale, ties=ties, seed=seed)  # type: ignore[arg-type]
    return process if prior is None else process.set_params(expertise_prior=prior)


def align_to(table: LabelTable, features: FeatureTable) -> Aligned:
    """Put features beside the tasks that have labels."""
    return align_features(features, [table.tasks[task] for task in np.flatnonzero(table.task_counts)])


def fit_learner(
    learner: Learner,
    table: LabelTable,
    aligned: Aligned | None,
    *,
    gold: Mapping[Any, Any] | None = None,
    progress: Callable[[FitStep], None] | None = None,
    cancel: CancelToken | None = None,
) -> Learner:
    """Fit a learner; whether it converged is in `converged_` and `notes_`, not in a Python warning.

    Parameters
    ----------
    table
        The labels.
    aligned
        The features, by `align_to`; None without.
    gold
        Known classes by task.
    progress, cancel
        As the learners take them.

    Raises
    ------
    UserError
        When labels or features do not allow it.
    """
    with no_convergence_warning():
        if aligned is None:
            return learner.fit(None, table, gold=gold, progress=progress, cancel=cancel)
        return learner.fit(aligned.X, table, items=aligned.items, gold=gold, progress=progress, cancel=cancel)
