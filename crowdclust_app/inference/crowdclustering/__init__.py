"""Bayesian crowdclustering (Gomes, Welinder, Krause and Perona 2011)."""

from crowdclust_app.inference.crowdclustering.estimator import Crowdclustering
from crowdclust_app.inference.crowdclustering.schedule import Snapshot

__all__ = ["Crowdclustering", "Snapshot"]
