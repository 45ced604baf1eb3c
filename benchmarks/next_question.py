"""How long the choice of the next question takes; run by hand: `python tests/benchmarks/next_question.py [TASKS]`.

Each line is one policy in one situation: at the beginning of a set, when a third of the planned answers are there, and
for workers who have had nearly every task. Times are in milliseconds.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from crowdclust_app.inference.aggregators import OnlineSBIC
from crowdclust_app.sampling.asking import UNCERTAINTY, UNIFORM, Asker

WANTED, WORKERS, QUESTIONS = 3, 20, 2000


def ask(asker: Asker, questions: int, rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """Ask and answer; milliseconds of each choice and of taking in each answer."""
    choosing, adding = [], []
    for turn in range(questions):
        worker = turn % WORKERS
        begin = time.perf_counter()
        task = asker.next_task(worker)
        chosen = time.perf_counter()
        if task is None:
            break
        asker.add(task, worker, bool(rng.random() < 0.7))
        choosing.append(1e3 * (chosen - begin))
        adding.append(1e3 * (time.perf_counter() - chosen))
    return choosing, adding


def situations(tasks: int, policy: str) -> list[tuple[str, Asker]]:
    """A fresh set, one that is a third done, one whose workers have nearly had everything."""
    rng = np.random.default_rng(0)
    fresh = Asker(tasks, WANTED, policy, 0, OnlineSBIC)
    third = Asker(tasks, WANTED, policy, 0, OnlineSBIC)
    for task in range(tasks):
        third.add(task, int(rng.integers(WORKERS)), bool(rng.random() < 0.7))
    late = Asker(tasks, WANTED, policy, 0, OnlineSBIC)
    for worker in range(WORKERS):
        for task in rng.permutation(tasks)[: tasks - 2 * QUESTIONS].tolist():
            late.skip(task, worker)
    return [("fresh", fresh), ("a third done", third), ("nearly all had", late)]


def main() -> None:
    """Measure and print."""
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    sys.stdout.write(f"{tasks:,} tasks, {WORKERS} workers in turn, {QUESTIONS:,} questions\n")
    sys.stdout.write(f"{'policy':12} {'situation':15} {'choice median':>13} {'99 %':>7} {'answer median':>13}\n")
    for policy in (UNIFORM, UNCERTAINTY):
        for name, asker in situations(tasks, policy):
            choosing, adding = ask(asker, QUESTIONS, np.random.default_rng(1))
            median, most = np.median(choosing), np.quantile(choosing, 0.99)
            sys.stdout.write(f"{policy:12} {name:15} {median:13.3f} {most:7.3f} {np.median(adding):13.3f}\n")


if __name__ == "__main__":
    main()
