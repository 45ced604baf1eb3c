"""Labels bought one after another under a sampling policy (manino2019 section 2.2), from a simulated crowd."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from crowdclust_app.evaluation.experiments.outcome import Watch
from crowdclust_app.evaluation.label_simulation import AccuracyPrior, Codes, Floats, Labels, draw_accuracies
from crowdclust_app.sampling.asking import Asker, Belief

# Labels between two looks at whoever watches.
_SLICE = 500
# Scores closer than this are a tie.
_DECIMALS = 9


class Crowd:
    """Workers who come one after another, each for so many labels, and the tasks they are asked about.

    Whether the label of a number is right depends on the seed and the number alone, so that all methods and policies
    meet the same people with the same luck.

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
        Of truth, people and their luck.
    """

    def __init__(self, n_tasks: int, labels_per_worker: int, most: int, prior: AccuracyPrior, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.n_tasks = n_tasks
        self.labels_per_worker = labels_per_worker
        self.most = most
        self.n_workers = -(-most // labels_per_worker)
        self.truth: Codes = rng.integers(0, 2, n_tasks)
        self.accuracies: Floats = draw_accuracies(prior, self.n_workers, rng)
        self._right = rng.random(self.n_workers * labels_per_worker) < np.repeat(self.accuracies, labels_per_worker)

    def worker(self, number: int) -> int:
        """Whose turn it is at the label of this number, from 0."""
        return number // self.labels_per_worker

    def answers(self, begin: int, tasks: Codes) -> Codes:
        """What is said of these tasks by the labels from number `begin` on."""
        return np.where(self._right[begin : begin + len(tasks)], self.truth[tasks], 1 - self.truth[tasks])


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

    labels: Labels
    seconds: Floats


class Margin:
    """Belief in the majority: how many more have said yes than no.

    That orders tasks as if all workers were right equally often, which is when majority voting is the right rule
    (liu2012 claim 3.3).
    """

    def __init__(self) -> None:
        self._margins: dict[Hashable, int] = {}

    def add(self, task: Hashable, worker: Hashable, answer: bool) -> float:
        """Take in one label."""
        margin = self._margins.get(task, 0) + (1 if answer else -1)
        self._margins[task] = margin
        return float(margin)

    def log_odds(self, task: Hashable) -> float:
        """Yes less no."""
        return float(self._margins.get(task, 0))


def ask_one_by_one(crowd: Crowd, policy: str, belief: Callable[[], Belief], seed: int, watch: Watch) -> Bought:
    """Buy labels one at a time, each where the policy says after the ones before.

    Parameters
    ----------
    crowd
        Is asked.
    policy
        `"uniform"` (equation 1) or `"uncertainty"` (equation 2).
    belief
        Makes what believes of the tasks, for uncertainty sampling.
    seed
        Of the ties.
    watch
        May cancel.
    """
    most = crowd.most
    asker = Asker(crowd.n_tasks, -(-most // crowd.n_tasks), policy, seed, belief)
    task, label = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
    seconds = np.zeros(most)
    began = time.perf_counter()
    bought = 0
    for number in range(most):
        if number % _SLICE == 0:
            watch.check()
        worker = crowd.worker(number)
        chosen = asker.next_task(worker)
        if chosen is None:
            break  # what is left to ask has been asked of this worker
        task[number] = chosen
        label[number] = crowd.answers(number, task[number : number + 1])[0]
        asker.add(chosen, worker, bool(label[number]))
        seconds[number] = time.perf_counter() - began
        bought = number + 1
    return Bought(_labels(crowd, task[:bought], label[:bought]), seconds[:bought])


def ask_between_fits(
    crowd: Crowd, believe: Callable[[Labels], Floats], labels_per_fit: int, seed: int, watch: Watch
) -> Bought:
    """Buy labels under uncertainty sampling for a method that has to be fitted again to see new labels.

    Between two fits `labels_per_fit` different tasks get one label each, the most uncertain first. Fits fall between
    workers, so that nobody is asked twice about a task.

    Parameters
    ----------
    crowd
        Is asked.
    believe
        Log-odds, or scores like them, of every task; shape (M,).
    labels_per_fit
        Rounded to whole workers, and no more than there are tasks.
    seed
        Of the ties.
    watch
        May cancel.

    Raises
    ------
    ValueError
        When workers give more labels than there are tasks.
    """
    each = crowd.labels_per_worker
    step = min(max(labels_per_fit, each), crowd.n_tasks) // each * each
    if step == 0:
        raise ValueError("a worker gives more labels than there are tasks")
    rng = np.random.default_rng(seed)
    task, label = np.zeros(crowd.most, dtype=np.int64), np.zeros(crowd.most, dtype=np.int64)
    seconds = np.zeros(crowd.most)
    scores = np.zeros(crowd.n_tasks)
    began = time.perf_counter()
    for begin in range(0, crowd.most, step):
        watch.check()
        end = min(begin + step, crowd.most)
        # equation 2: the larger probability is smallest where the log-odds are nearest to zero
        nearest = np.lexsort((rng.random(crowd.n_tasks), np.abs(np.round(scores, _DECIMALS))))
        task[begin:end] = nearest[: end - begin]
        label[begin:end] = crowd.answers(begin, task[begin:end])
        scores = believe(_labels(crowd, task[:end], label[:end]))
        seconds[begin:end] = time.perf_counter() - began
    return Bought(_labels(crowd, task, label), seconds)


def _labels(crowd: Crowd, task: Codes, label: Codes) -> Labels:
    worker = np.arange(len(task)) // crowd.labels_per_worker
    return Labels(crowd.n_tasks, crowd.n_workers, task, worker, label, arrived=True)
