"""Bayesian crowdclustering (Gomes, Welinder, Krause and Perona 2011) by variational inference."""

from crowdclust_app.inference.crowdclustering.model.estimator import Crowdclustering
from crowdclust_app.inference.crowdclustering.model.schedule import Snapshot

__all__ = ["Crowdclustering", "Snapshot"]
