"""The learners by the names that the command line uses."""

from __future__ import annotations

from crowdclust_app.inference.experts.gaussian_process import GaussianProcessExperts
from crowdclust_app.inference.experts.logistic import LogisticExperts

Learner = LogisticExperts | GaussianProcessExperts
LEARNERS: dict[str, type[LogisticExperts] | type[GaussianProcessExperts]] = {
    LogisticExperts.name: LogisticExperts,
    GaussianProcessExperts.name: GaussianProcessExperts,
}
