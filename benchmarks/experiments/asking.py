"""Labels bought one after another under a sampling policy (manino2019 section 2.2), from a simulated crowd."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.experiments.results import Watch
from crowdclust_app.evaluation.label_simulation import AccuracyPrior, Codes, Floats, SimulatedLabels, draw_accuracies
from crowdclust_app.sampling.asking import Asker, StreamingPosterior

# Labels between two looks at whoever watches.
_SLICE = 500
# How long a worker stays, in labels a task.
_STAY = 2
# Scores closer than this are a tie.
_DECIMALS = 9


class SimulatedCrowd:
    """Workers who come and go, and the tasks they are asked about.

    Every worker gives the same number of labels, one at a time while others come as well: the labels of one are spread
    over about two labels a task of everybody's, so that at any time nearly all who came have given all of theirs.
    (When each gives all labels at one sitting, Fast SBIC under uncertainty sampling has two to three times the error:
    the earlier labels of whoever is asked are then all on tasks that are not settled yet, and say little.)
    Who comes at the label of a number, and whether that will be right, depends on the seed and the number alone, so
    that all methods meet the same people with the same luck.

    Parameters
    ----------
    n_tasks
        `M`; half of them are true on average.
    labels_per_worker
        `L`.
    most
        Labels that can be bought.
    prior
        Of the workers' accuracies.
    seed
        Of truth, people, their times and their luck.
    """

    def __init__(self, n_tasks: int, labels_per_worker: int, most: int, prior: AccuracyPrior, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.n_tasks = n_tasks
        self.labels_per_worker = labels_per_worker
        self.most = most
        self.n_workers = -(-most // labels_per_worker)
        self.truth: Codes = rng.integers(0, 2, n_tasks)
        self.accuracies: Floats = draw_accuracies(prior, self.n_workers, rng)
        stays = np.arange(most) // labels_per_worker * labels_per_worker + rng.integers(0, _STAY * n_tasks, most)
        self.workers: Codes = np.argsort(stays, kind="stable") // labels_per_worker
        self._right = rng.random(most) < self.accuracies[self.workers]

    def answer(self, number: int, task: int) -> int:
        """What is said of a task by the label of this number, from 0."""
        true = int(self.truth[task])
        return true if self._right[number] else 1 - true


@dataclass(frozen=True, slots=True)
class Bought:
    """Labels in the order in which they were bought.

    Parameters
    ----------
    labels
        All of them.
    seconds : ndarray of shape (T,)
        How long choosing and believing had taken when each label was in.
    """

    labels: SimulatedLabels
    seconds: Floats


class Margin:
    """Belief in the majority: how many more have said yes than no.

    That orders tasks as if all workers were right equally often, which is when majority voting is the right rule
    (liu2012 claim 3.3).
    """

    def __init__(self) -> None:
        self._margins: dict[Hashable, int] = {}

    def partial_fit(self, table: Sequence[Hashable], worker: Sequence[Hashable], label: Sequence[Hashable]) -> None:
        """Take in labels."""
        for task, answer in zip(table, label, strict=True):
            self._margins[task] = self._margins.get(task, 0) + (1 if answer else -1)

    def log_odds(self, task: Hashable) -> float:
        """Yes less no."""
        return float(self._margins.get(task, 0))


def ask_one_by_one(
    crowd: SimulatedCrowd, policy: str, make_posterior: Callable[[], StreamingPosterior], seed: int, watch: Watch
) -> Bought:
    """Buy labels one at a time, each where the policy says after the ones before.

    Parameters
    ----------
    crowd
        Is asked.
    policy
        `"uniform"` (equation 1) or `"uncertainty"` (equation 2).
    make_posterior
        Makes what believes of the tasks, for uncertainty sampling.
    seed
        Of the ties.
    watch
        May cancel.
    """
    asker = Asker(crowd.n_tasks, -(-crowd.most // crowd.n_tasks), policy, seed, make_posterior)
    rows: list[tuple[int, int, int]] = []
    seconds = []
    began = time.perf_counter()
    for number, worker in enumerate(crowd.workers.tolist()):
        if number % _SLICE == 0:
            watch.check()
        task = asker.next_task(worker)
        if task is None:
            continue  # what is left to ask has been asked of this worker
        answer = crowd.answer(number, task)
        asker.add(task, worker, bool(answer))
        rows.append((task, worker, answer))
        seconds.append(time.perf_counter() - began)
    return Bought(_labels(crowd, rows), np.array(seconds))


def ask_between_fits(
    crowd: SimulatedCrowd, believe: Callable[[SimulatedLabels], Floats], labels_per_fit: int, seed: int, watch: Watch
) -> Bought:
    """Buy labels under uncertainty sampling for a method that has to be fitted again to see new labels.

    Between two fits `labels_per_fit` different tasks get one label each, the most uncertain first, but nobody is asked
    twice about a task.

    Parameters
    ----------
    crowd
        Is asked.
    believe
        Log-odds, or scores like them, of every task; shape (M,).
    labels_per_fit
        No more than leaves everybody a task.
    seed
        Of the ties.
    watch
        May cancel.

    Raises
    ------
    ValueError
        When workers give more labels than there are tasks.
    """
    step = min(labels_per_fit, crowd.n_tasks - crowd.labels_per_worker + 1)
    if step < 1:
        raise ValueError("a worker gives more labels than there are tasks")
    rng = np.random.default_rng(seed)
    had: defaultdict[int, set[int]] = defaultdict(set)
    rows: list[tuple[int, int, int]] = []
    seconds: list[float] = []
    scores = np.zeros(crowd.n_tasks)
    began = time.perf_counter()
    while len(rows) < crowd.most:
        watch.check()
        # equation 2: the larger probability is smallest where the log-odds are nearest to zero
        nearest = np.lexsort((rng.random(crowd.n_tasks), np.abs(np.round(scores, _DECIMALS)))).tolist()
        for number in range(len(rows), min(len(rows) + step, crowd.most)):
            worker = int(crowd.workers[number])
            task = next(task for task in nearest if task not in had[worker])
            nearest.remove(task)
            had[worker].add(task)
            rows.append((task, worker, crowd.answer(number, task)))
        labels = _labels(crowd, rows)
        scores = believe(labels)
        seconds += [time.perf_counter() - began] * (len(rows) - len(seconds))
    return Bought(labels, np.array(seconds))


def _labels(crowd: SimulatedCrowd, rows: list[tuple[int, int, int]]) -> SimulatedLabels:
    task, worker, label = np.array(rows, dtype=np.int64).reshape(-1, 3).T.copy()
    return SimulatedLabels(crowd.n_tasks, crowd.n_workers, task, worker, label, arrived=True)
