"""Small tables of labels, and slow ways to the right answer, for the tests of the aggregators."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.special import betaln, log_softmax, softmax

from crowdclust_app.inference.aggregators import LabelTable, encode_labels


def simulated(tasks: int = 40, workers: int = 12, per_task: int = 5, seed: int = 0) -> tuple[LabelTable, np.ndarray]:
    """Labels of workers who are right with a probability between .55 and .95, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, tasks)
    skill = rng.uniform(0.55, 0.95, workers)
    rows = [(task, worker) for task in range(tasks) for worker in rng.permutation(workers)[:per_task]]
    right = rng.random(len(rows)) < [skill[worker] for _, worker in rows]
    labels = [int(truth[task] if good else 1 - truth[task]) for (task, _), good in zip(rows, right, strict=True)]
    order = rng.permutation(len(rows))
    task_column = [rows[row][0] for row in order]
    worker_column = [int(rows[row][1]) for row in order]
    return encode_labels(task_column, worker_column, [labels[row] for row in order]), truth


def of_classes(classes: int, tasks: int, workers: int, per_task: int, seed: int) -> LabelTable:
    """The same with any number of classes; a wrong answer is any other class."""
    rng = np.random.default_rng(seed)
    truth, skill = rng.integers(0, classes, tasks), rng.uniform(0.55, 0.95, workers)
    task = rng.permutation(np.repeat(np.arange(tasks), per_task))
    worker = np.empty(len(task), dtype=np.int64)
    for one in range(tasks):
        worker[task == one] = rng.permutation(workers)[:per_task]
    wrong = (truth[task] + rng.integers(1, classes, len(task))) % classes
    label = np.where(rng.random(len(task)) < skill[worker], truth[task], wrong)
    return encode_labels(task, worker, label, classes=tuple(range(classes)))


def random_tree(tasks: int, workers: int, seed: int, repeats: int = 0) -> LabelTable:
    """Labels whose graph of tasks and workers has no loop, but for repeated labels on the same edge."""
    rng = np.random.default_rng(seed)
    placed_tasks, placed_workers = [0], [0]
    edges = [(0, 0)]
    waiting = [("task", n) for n in range(1, tasks)] + [("worker", n) for n in range(1, workers)]
    for kind, number in (waiting[at] for at in rng.permutation(len(waiting))):
        if kind == "task":
            edges.append((number, int(rng.choice(placed_workers))))
            placed_tasks.append(number)
        else:
            edges.append((int(rng.choice(placed_tasks)), number))
            placed_workers.append(number)
    edges += [edges[at] for at in rng.integers(0, len(edges), repeats)]
    labels = rng.integers(0, 2, len(edges)).tolist()
    return encode_labels([task for task, _ in edges], [worker for _, worker in edges], labels, classes=(0, 1))


def log_joint(table: LabelTable, truth: np.ndarray, prior: tuple[float, float], share: float, coins: int) -> float:
    """Log of the joint probability of classes and labels, the workers' coins integrated out."""
    alpha, beta = prior
    total = float(np.where(truth == 1, math.log(share), math.log(1 - share)).sum())
    for worker in range(table.n_workers):
        mine = table.worker == worker
        true, said = truth[table.task[mine]], table.label[mine]
        groups = [true == said] if coins == 1 else [said[true == value] == value for value in (0, 1)]
        total += sum(float(betaln(alpha + g.sum(), beta + (~g).sum()) - betaln(alpha, beta)) for g in groups)
    return total


def every_world(
    table: LabelTable, prior: tuple[float, float], share: float, coins: int
) -> tuple[np.ndarray, np.ndarray]:
    """All assignments of classes, shape (2^M, M), and the log-probability of each."""
    worlds = np.array(list(itertools.product((0, 1), repeat=table.n_tasks)))
    return worlds, np.array([log_joint(table, world, prior, share, coins) for world in worlds])


def brute_force(table: LabelTable, prior: tuple[float, float], share: float = 0.5, coins: int = 1) -> np.ndarray:
    """Exact probability that each task is of the second class."""
    worlds, logs = every_world(table, prior, share, coins)
    weights = np.exp(logs - logs.max())
    return weights @ worlds / weights.sum()


def direct_sbic(
    table: LabelTable, order: Iterable[int], alpha: float, beta: float, shares: Sequence[float]
) -> np.ndarray:
    """Fast SBIC as the paper writes it: each label looks at its worker's whole history; log-probabilities, (M, K).

    A wrong answer is any other class with equal probability, which for two classes is the paper's model.
    """
    size = len(shares)
    logs = np.tile(np.log(shares), (table.n_tasks, 1))
    history: list[list[tuple[int, int]]] = [[] for _ in range(table.n_workers)]
    for t in order:
        i, j, x = int(table.task[t]), int(table.worker[t]), int(table.label[t])
        right = sum(float(softmax(logs[h])[said]) for h, said in history[j])
        p = (right + alpha) / (len(history[j]) + alpha + beta)
        logs[i] += [math.log(p) if c == x else math.log((1 - p) / (size - 1)) for c in range(size)]
        history[j].append((i, x))
    return np.asarray(log_softmax(logs, axis=1))


def views_in_order(
    table: LabelTable, begin: int, end: int, order: list[int], before: list[int]
) -> dict[int, list[int]]:
    """The order in which each task's own copy of Sorted SBIC takes in the labels."""
    if end - begin == 1:
        return {begin: before + order}
    middle = (begin + end) // 2
    low = [t for t in order if table.task[t] < middle]
    high = [t for t in order if table.task[t] >= middle]
    left = views_in_order(table, begin, middle, low, before + high)
    return left | views_in_order(table, middle, end, high, before + low)


def every_triangle(table: LabelTable, overlapping: bool) -> np.ndarray:
    """Reliabilities of triangular estimation: all pairs of other workers tried one after another.

    The pair counts whether it overlaps with the worker or not, and the first of equal ones is taken, as bonald2017 has
    it; or it must overlap, and equal ones count alike.
    """
    answers = np.zeros((table.n_workers, table.n_tasks))
    answers[table.worker, table.task] = 2 * table.label - 1
    shared = (answers != 0).astype(int) @ (answers != 0).astype(int).T
    agreement = np.where(shared > 0, answers @ answers.T / np.maximum(shared, 1), 0.0)
    np.fill_diagonal(agreement, 0.0)
    size = np.zeros(table.n_workers)
    for k in range(table.n_workers):
        others = [j for j in range(table.n_workers) if j != k and (not overlapping or shared[j, k])]
        pairs = [(a, b) for a, b in itertools.combinations(others, 2) if agreement[a, b]]
        if pairs:
            strongest = max(abs(agreement[pair]) for pair in pairs)
            equal = [(a, b) for a, b in pairs if abs(agreement[a, b]) == strongest]
            implied = [abs(agreement[k, a] * agreement[k, b] / agreement[a, b]) for a, b in equal]
            size[k] = math.sqrt(float(np.mean(implied)) if overlapping else implied[0])
    support = size**2 + agreement.sum(axis=1)
    leading = np.abs(support) >= np.abs(support).max() - 1e-9
    leaders = np.flatnonzero(leading) if overlapping else np.flatnonzero(leading)[:1]
    np.fill_diagonal(agreement, 1.0)
    np.fill_diagonal(shared, 1)
    ahead = np.where(support[leaders] >= 0, 1.0, -1.0)
    votes = agreement[:, leaders] @ ahead
    signs = np.where(np.abs(votes) < 1e-9, 0.0, np.sign(votes))
    if overlapping:
        signs[~(shared[:, leaders] > 0).any(axis=1)] = 1.0
    return np.clip(signs * size, -0.999, 0.999)
