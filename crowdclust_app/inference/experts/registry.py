"""The learners by the names that the command line uses."""

from __future__ import annotations

from crowdclust_app.domain.errors import UserError
from crowdclust_app.inference.experts.gaussian_process import GaussianProcessExperts
from crowdclust_app.inference.experts.logistic import LogisticExperts

Learner = LogisticExperts | GaussianProcessExperts
LEARNERS: dict[str, type[LogisticExperts] | type[GaussianProcessExperts]] = {
    LogisticExperts.name: LogisticExperts,
    GaussianProcessExperts.name: GaussianProcessExperts,
}


def learner_named(name: str) -> type[LogisticExperts] | type[GaussianProcessExperts]:
    """Find a learner.

    Raises
    ------
    UserError
        When there is none of that name.
    """
    if name not in LEARNERS:
        raise UserError(f"there is no learner {name}", todo=f"take one of {', '.join(LEARNERS)}")
    return LEARNERS[name]
