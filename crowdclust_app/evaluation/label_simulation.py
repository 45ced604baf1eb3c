"""Simulated yes/no labels: who labels what, and how often people are right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import InvalidInputError

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
AccuracyPrior = tuple[float, float] | Mapping[float, float]
"""Beta distribution `(alpha, beta)` of accuracies, or their shares by accuracy."""

# Rounds of exchanging edges that occur twice; one or two do in graphs that can be simple at all.
_ROUNDS = 200


@dataclass(frozen=True, slots=True)
class SimulatedLabels:
    """Yes/no labels.

    Parameters
    ----------
    n_tasks, n_workers
        `M` and `N`.
    task, worker : ndarray of shape (T,)
        Who labelled what.
    label : ndarray of shape (T,)
        1 for yes, 0 for no.
    arrived
        Whether they stand in the order in which they arrived.
    """

    n_tasks: int
    n_workers: int
    task: Codes
    worker: Codes
    label: Codes
    arrived: bool = False

    def __len__(self) -> int:
        return len(self.label)

    def rows(self, chosen: slice | NDArray[np.bool_] | Codes) -> SimulatedLabels:
        """Some of the labels; tasks and workers keep their numbers."""
        return replace(self, task=self.task[chosen], worker=self.worker[chosen], label=self.label[chosen])


@dataclass(frozen=True, slots=True)
class LabelledTasks:
    """Labels and what is true: simulated, or a known set.

    Parameters
    ----------
    labels
        The labels.
    truth : ndarray of shape (M,)
        1, 0, or -1 where it is not known.
    accuracies : ndarray of shape (N,) or None
        How often each worker is right; None where nobody knows.
    """

    labels: SimulatedLabels
    truth: Codes
    accuracies: Floats | None = None


def draw_accuracies(prior: AccuracyPrior, count: int, rng: np.random.Generator) -> Floats:
    """Draw how often each worker is right; shape (count,)."""
    if isinstance(prior, Mapping):
        return np.asarray(rng.choice(np.array(list(prior)), size=count, p=np.array(list(prior.values()))))
    return rng.beta(*prior, size=count)


def draw_answers(task: Codes, worker: Codes, truth: Codes, accuracies: Floats, rng: np.random.Generator) -> Codes:
    """Draw one-coin labels: worker `j` says what is true with probability `accuracies[j]`; shape (T,)."""
    right = rng.random(len(task)) < accuracies[worker]
    return np.where(right, truth[task], 1 - truth[task])


def regular_assignment(
    n_tasks: int, workers_per_task: int, tasks_per_worker: int, rng: np.random.Generator
) -> tuple[Codes, Codes]:
    """Draw a regular bipartite graph by the configuration model (liu2012 section 4).

    Every task has `workers_per_task` (`l`) half-edges and every worker `tasks_per_worker` (`gamma`); they are joined at
    random. Where that joins the same two twice, the edge exchanges its worker with a random other one.

    Returns
    -------
    task, worker : ndarray of shape (n_tasks * workers_per_task,)
        Ends of the edges, all different.

    Raises
    ------
    InvalidInputError
        When there is no such graph.
    """
    edges = n_tasks * workers_per_task
    n_workers, left = divmod(edges, tasks_per_worker)
    if left or n_workers < workers_per_task or n_tasks < tasks_per_worker:
        what = f"{n_tasks} tasks of {workers_per_task} labels cannot be dealt to workers of {tasks_per_worker} each"
        raise InvalidInputError(what, todo="choose numbers that divide, and enough tasks")
    task = np.repeat(np.arange(n_tasks), workers_per_task)
    worker = rng.permutation(np.repeat(np.arange(n_workers), tasks_per_worker))
    for _ in range(_ROUNDS):
        _, first = np.unique(task * n_workers + worker, return_index=True)
        if len(first) == edges:
            return task, worker
        twice = np.setdiff1d(np.arange(edges), first)
        for edge, other in zip(twice, rng.integers(0, edges, len(twice)), strict=True):
            worker[edge], worker[other] = worker[other], worker[edge]
    raise InvalidInputError("no graph without double edges was found", todo="take more tasks, or fewer labels a task")


def simulate_regular(
    n_tasks: int, workers_per_task: int, tasks_per_worker: int, prior: AccuracyPrior, seed: int
) -> LabelledTasks:
    """Label the tasks of a regular graph by one-coin workers; half of the tasks are true on average."""
    rng = np.random.default_rng(seed)
    task, worker = regular_assignment(n_tasks, workers_per_task, tasks_per_worker, rng)
    n_workers = n_tasks * workers_per_task // tasks_per_worker
    truth = rng.integers(0, 2, n_tasks)
    accuracies = draw_accuracies(prior, n_workers, rng)
    label = draw_answers(task, worker, truth, accuracies, rng)
    return LabelledTasks(SimulatedLabels(n_tasks, n_workers, task, worker, label), truth, accuracies)
