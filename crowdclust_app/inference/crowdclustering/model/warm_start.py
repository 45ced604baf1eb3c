"""Warm starts: a fit that begins where another one ended, when the responses have changed a little."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.model.blocks import VariationalPosterior
from crowdclust_app.inference.crowdclustering.model.data import labels_of
from crowdclust_app.inference.crowdclustering.model.schedule import (
    Reporter,
    Snapshot,
    run_joint,
    run_layers,
    run_partition,
)
from crowdclust_app.inference.crowdclustering.model.settings import ResolvedSettings


@dataclass(frozen=True, slots=True)
class WarmStart:
    """Where a fit ended.

    Parameters
    ----------
    positions, position_variances : ndarray of shape (N, D)
    weights, weight_variances : ndarray of shape (J, D, D)
    biases, bias_variances : ndarray of shape (J,)
    """

    positions: Floats
    position_variances: Floats
    weights: Floats
    weight_variances: Floats
    biases: Floats
    bias_variances: Floats


def refit(
    table: ResponseTable,
    settings: ResolvedSettings,
    beginning: WarmStart,
    progress: Callable[[Snapshot], None] | None = None,
    cancel: CancelToken | None = None,
) -> Ints:
    """Run the phases from a fit's positions and workers.

    The mixture is left out while the positions find their new places: it would hold items together that no response
    holds together any more.

    Parameters
    ----------
    table
        Responses over the `N` items and `J` workers of the beginning.
    settings
        Of the fit, with a number of clusters, some of which may lose their items.
    beginning
        Where to begin.
    progress, cancel
        As in a fit.

    Returns
    -------
    ndarray of shape (N,)
        Most probable cluster of each item from 1, in no particular order; 0 for one without labels.

    Raises
    ------
    InvalidInputError
        When there is no pair label.
    Cancelled
        When asked to stop.
    """
    labels = labels_of(table, settings.consensus)
    shown = labels.shown
    # workers without a label begin at the prior, as in any fit
    posterior = VariationalPosterior.at_positions(labels, settings, beginning.positions[shown])
    posterior.variance = np.array(beginning.position_variances[shown], dtype=np.float64, order="C")
    for worker in labels.answered.tolist():
        posterior.weights[worker] = beginning.weights[worker]
        posterior.weight_variances[worker] = beginning.weight_variances[worker]
        posterior.biases[worker] = beginning.biases[worker]
        posterior.bias_variances[worker] = beginning.bias_variances[worker]
    # tiles and worker arrays of the kernels do not follow changes from outside by themselves
    posterior.refresh_items()
    posterior.refresh_workers()
    # otherwise the first round would draw all workers towards the paper's prior
    posterior.learn_prior()
    reporter = Reporter(1, 1, time.perf_counter(), progress, cancel)
    reporter.check()
    run_layers(posterior, reporter)
    assert isinstance(settings.n_clusters, int)
    mixture = run_partition(posterior, min(settings.n_clusters, len(shown)), reporter)
    mixture, _, _, _, _ = run_joint(posterior, mixture, reporter)
    found = np.zeros(table.n_items, dtype=np.int64)
    found[shown] = 1 + np.argmax(mixture.memberships, axis=1)
    return found
