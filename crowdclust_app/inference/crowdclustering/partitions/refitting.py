"""Partitions of responses that have changed a little: from the clusters of a fit, or into as many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.kernels.arrays import Ints
from crowdclust_app.inference.crowdclustering.model.canonical_order import ordered
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers
from crowdclust_app.inference.crowdclustering.partitions.candidates import all_candidates
from crowdclust_app.inference.crowdclustering.partitions.decision_model import DecisionFit
from crowdclust_app.inference.crowdclustering.partitions.search import (
    best_of_number,
    partitions_by_number,
    refined,
    top_for,
)


def moved_on(table: ResponseTable, labels: Ints, individual: bool, check: Callable[[], None]) -> Ints:
    """Move the items of a fit to where other responses put them; clusters may lose all of theirs.

    Parameters
    ----------
    table
        Responses over `N` items, with a pair label.
    labels : ndarray of shape (N,)
        Clusters of the fit from 1; 0 for an item without one, which begins in cluster 1.
    individual
        Whether workers differ.
    check
        Is called often; may raise to stop.

    Returns
    -------
    ndarray of shape (N,)
        Cluster of each item from 1, in no particular order; 0 for one without pair labels.
    """
    order = ordered(table)
    answers = Answers.of(order.table, individual)
    begun = np.zeros(len(labels), dtype=np.int64)
    begun[order.item_at] = np.maximum(labels - 1, 0)
    fit = DecisionFit.before(answers, np.where(answers.shown, begun, -1))
    return refined(answers, fit, check).partition[order.item_at] + 1


def found_anew(table: ResponseTable, K: int, individual: bool, check: Callable[[], None]) -> Ints:
    """Put the items of a table into `K` clusters, or as many as there are items; as `moved_on` returns them."""
    order = ordered(table)
    answers = Answers.of(order.table, individual)
    K = min(K, int(answers.shown.sum()))
    candidates = all_candidates(answers)
    found = partitions_by_number(answers, candidates, min(top_for(K), int(answers.shown.sum())), check, K)
    return best_of_number(answers, candidates, found, K, check).partition[order.item_at] + 1
