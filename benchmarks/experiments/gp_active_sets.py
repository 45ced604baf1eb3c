"""Active sets of the Gaussian process: how much accuracy a few items keep, and what they save (docs/experts.md, 10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from benchmarks.experiments.expert_sets import (
    TEN_WORKERS,
    FeatureSet,
    LearnedClasses,
    answers,
    asked,
    copies,
    drawn_signs,
    negative_log,
    right_share,
    rows_of,
    split,
)
from benchmarks.experiments.results import ExperimentResult, ResultSheet, Watch, column, curve, curves, grouped, mean
from crowdclust_app.domain.plots import Curves
from crowdclust_app.evaluation.label_simulation import Codes, Floats

TRIALS = ("data", "items", "size", "rule", "all_sites", "seed", "accuracy", "nll", "expertise_error", "seconds")
FIGURES = (
    "data", "items", "size", "rule", "all_sites", "seeds", "accuracy", "accuracy_sd", "nll", "expertise_error",
    "seconds",
)  # fmt: skip
FULL = "full"


class SparseLearner(Protocol):
    """The Gaussian process with an active set."""

    def kernel(self, train: FeatureSet, said: Codes, seed: int) -> tuple[float, float]:
        """Learn amplitude and length scale from these items."""
        ...

    def learn(
        self, train: FeatureSet, said: Codes, test: Floats, kernel: tuple[float, float], active: ActiveRule, seed: int
    ) -> LearnedClasses:
        """Learn with this kernel, and give the probability of the clean class of the test items."""
        ...


@dataclass(frozen=True, slots=True)
class ActiveRule:
    """An active set.

    Parameters
    ----------
    size
        Members; 0 for every site.
    rule
        How they are chosen: `variance`, `predictive`, `random`, or `full`.
    all_sites
        Whether all labels speak in the end.
    """

    size: int
    rule: str
    all_sites: bool


RULES: tuple[tuple[str, bool], ...] = (
    ("random", False), ("predictive", False), ("variance", False), ("variance", True), ("random", True),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ActiveSets:
    """What is compared.

    Parameters
    ----------
    seeds
        Of items, crowd and sets.
    items
        Items with features, of which slightly different copies are made; drawn signs when None.
    counts, sizes
        Copies to learn from, and members.
    full
        Counts up to which every site is tried as well.
    kept
        Share of the labels that is there.
    base
        Different items that are copied; the others are for the test.
    kernel_items
        Copies from which the kernel is learned.
    workers
        How often each is right.
    """

    seeds: tuple[int, ...]
    items: FeatureSet | None = None
    counts: tuple[int, ...] = (500, 2000, 10000)
    sizes: tuple[int, ...] = (200, 400)
    full: int = 2000
    kept: float = 0.3
    base: int = 1000
    kernel_items: int = 400
    workers: tuple[float, ...] = TEN_WORKERS


def run_active_sets(settings: ActiveSets, learner: SparseLearner, watch: Watch) -> ExperimentResult:
    """Compare active sets with each other and with every site.

    Parameters
    ----------
    settings
        What is compared.
    learner
        Learns.
    watch
        Told before every trial; may cancel.
    """
    items = settings.items or drawn_signs(1800, 0)
    plan = [(count, active) for count in settings.counts for active in _rules(settings, count)]
    rows: list[tuple[Any, ...]] = []
    total = len(plan) * len(settings.seeds)
    for count in settings.counts:
        for seed in settings.seeds:
            rng = np.random.default_rng([seed, count])
            base, test = split(items, min(settings.base, 2 * len(items.X) // 3), rng)
            train = copies(base, count, rng)
            said = asked(answers(train.truth, settings.workers, rng), settings.kept, rng)
            some = rng.permutation(count)[: settings.kernel_items]
            watch.at(len(rows), total, f"{count} items, seed {seed}, the kernel")
            kernel = learner.kernel(rows_of(train, some), said[some], seed)
            for active in _rules(settings, count):
                watch.at(len(rows), total, f"{count} items, seed {seed}, {active.rule}, {active.size or count} members")
                found = learner.learn(train, said, test.X, kernel, active, seed)
                wrong = float(np.abs(found.expertise - np.array(settings.workers)).mean())
                judged = right_share(found.test, test.truth), negative_log(found.test, test.truth)
                name = (items.name, count, active.size or count, active.rule, active.all_sites)
                rows.append((*name, seed, *judged, wrong, found.seconds))
    rows.sort(key=lambda row: (row[1], row[2]))
    figures = tuple(
        (*key, len(of_one), *column(of_one, 6), mean(of_one, 7), mean(of_one, 8), mean(of_one, 9))
        for key, of_one in grouped(rows, 5).items()
    )
    return ExperimentResult(
        ResultSheet("trials", TRIALS, tuple(rows)),
        ResultSheet("active_sets", FIGURES, figures),
        tuple(_panels(figures)),
    )


def _rules(settings: ActiveSets, count: int) -> Iterator[ActiveRule]:
    for size in settings.sizes:
        if size < count:
            for rule, all_sites in RULES:
                yield ActiveRule(size, rule, all_sites)
    if count <= settings.full:
        yield ActiveRule(0, FULL, True)


def _panels(figures: tuple[tuple[Any, ...], ...]) -> Iterator[Curves]:
    """Accuracy over processor time: a point for each rule and size."""
    for (name, count), of_count in grouped(figures, 2).items():
        lines = []
        for (rule, all_sites), rows in grouped([row[3:5] + row for row in of_count], 2).items():
            title = rule if rule == FULL else f"{rule}, all sites" if all_sites else str(rule)
            lines.append(curve(title, (row[12] for row in rows), (row[8] for row in rows)))
        title = f"{name}: {count:,} items"
        yield curves(title, "processor time (s)", "test accuracy", lines)
