"""Parts of known sets of labels."""

from __future__ import annotations

import numpy as np

from crowdclust_app.evaluation.label_simulation import SimulatedLabels


def some_labels_a_task(labels: SimulatedLabels, count: int, rng: np.random.Generator) -> SimulatedLabels:
    """Keep at most `count` random labels of each task, in their order."""
    mixed = rng.permutation(len(labels))
    by_task = mixed[np.argsort(labels.task[mixed], kind="stable")]
    counts = np.bincount(labels.task, minlength=labels.n_tasks)
    begin = np.cumsum(counts) - counts
    rank = np.arange(len(labels)) - begin[labels.task[by_task]]
    return labels.rows(np.sort(by_task[rank < count]))


def some_workers(labels: SimulatedLabels, count: int, rng: np.random.Generator) -> SimulatedLabels:
    """Keep the labels of `count` random workers among those who have any."""
    present = np.unique(labels.worker)
    chosen = rng.choice(present, size=min(count, len(present)), replace=False)
    return labels.rows(np.isin(labels.worker, chosen))
