"""The settings of one fit, with numbers where they said that something is to be chosen."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from crowdclust_app.domain.fit_settings import AUTO, FitSettings

USUAL_DIMENSIONS = 4
"""Those with which the choice of dimensions begins."""


@dataclass(frozen=True, slots=True)
class ResolvedSettings(FitSettings):
    """`FitSettings` with numbers for dimensions, label weight and degrees of freedom.

    The number of clusters may still be "heldout".
    """

    dimensions: int = USUAL_DIMENSIONS
    label_weight: float = 1.0
    degrees_of_freedom: float = USUAL_DIMENSIONS + 2.0

    @property
    def consensus(self) -> bool:
        """Whether all responses are given to one worker (Bayesian consensus)."""
        return self.method == "consensus"


def resolved(settings: FitSettings) -> ResolvedSettings:
    """Where something is to be chosen by held-out responses, begin from the paper's values.

    A consensus has one worker, with whom no other could share a prior.
    """
    values: dict[str, Any] = {one.name: getattr(settings, one.name) for one in fields(settings)}
    dimensions = USUAL_DIMENSIONS if settings.dimensions == AUTO else settings.dimensions
    freedom = settings.degrees_of_freedom
    values["dimensions"] = dimensions
    values["degrees_of_freedom"] = dimensions + 2.0 if freedom is None else freedom
    values["label_weight"] = 1.0 if settings.label_weight == AUTO else settings.label_weight
    values["worker_prior"] = "independent" if settings.method == "consensus" else settings.worker_prior
    return ResolvedSettings(**values)


def with_dimensions(settings: ResolvedSettings, dimensions: int) -> ResolvedSettings:
    """The same settings in another number of dimensions, with the degrees of freedom as far above it."""
    more = dimensions - settings.dimensions
    return replace(settings, dimensions=dimensions, degrees_of_freedom=settings.degrees_of_freedom + more)
