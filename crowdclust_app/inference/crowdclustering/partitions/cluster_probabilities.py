"""Probabilities of the clusters of a fit from the pair labels themselves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats
from crowdclust_app.inference.crowdclustering.model.blocks import VariationalPosterior
from crowdclust_app.inference.crowdclustering.model.data import PairLabelData
from crowdclust_app.inference.crowdclustering.partitions.refinement import (
    evidence_of,
    log_shares,
    refine_partition,
    tempered,
)
from crowdclust_app.inference.crowdclustering.partitions.worker_pools import pool_workers
from crowdclust_app.inference.crowdclustering.selection.prediction import placement_of

# Decisions in the labels of one item in one response, where no held-out response tells.
USUAL_DECISIONS = 2.0


def usual_temperature(labels: PairLabelData, decisions: float = USUAL_DECISIONS) -> float:
    """How much of independent decisions the labels are, where nothing tells: a few in each response of an item."""
    partners = float(((labels.sizes - 1.0) * labels.sizes).sum() / labels.sizes.sum())
    return min(1.0, decisions / max(partners, 1.0))


def refined_memberships(
    posterior: VariationalPosterior, memberships: Floats, temperature: float, check: Callable[[], None]
) -> tuple[Floats, Floats]:
    """The clusters of a mixture, every item where its labels speak for, with probabilities that the labels bear out.

    Parameters
    ----------
    posterior
        Positions and workers at the end of a fit.
    memberships : ndarray of shape (n, K)
        The mixture's.
    temperature
        As in `tempered`.
    check
        As in `refine_partition`.

    Returns
    -------
    memberships, independent : ndarray of shape (n, K)
        At this temperature, and with every label a decision of its own. Columns of clusters that have lost all items
        are 0.
    """
    pooled = pool_workers(posterior.labels, placement_of(posterior, posterior.labels.n_items))
    components, partition = np.unique(np.argmax(memberships, axis=1), return_inverse=True)
    refined = refine_partition(pooled.labels, partition.astype(np.int64), pooled.expect, check)
    evidence = evidence_of(pooled.labels, refined.partition, refined.rates)
    shares = log_shares(refined.partition, len(refined.kept))
    found, independent = np.zeros_like(memberships), np.zeros_like(memberships)
    found[:, components[refined.kept]] = tempered(evidence, shares, temperature)
    independent[:, components[refined.kept]] = tempered(evidence, shares, 1.0)
    return found, independent
