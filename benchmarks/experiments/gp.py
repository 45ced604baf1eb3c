"""The Gaussian process with experts against classifiers that trust labels, and against asking at random.

The settings are those of docs/experts.md, sections 9 and 14: three experts, five spammers and two adversaries.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from benchmarks.experiments.expert_sets import (
    TEN_WORKERS,
    CrowdLearner,
    FeatureSet,
    LearnedClasses,
    answers,
    asked,
    drawn_signs,
    kinds_of,
    right_share,
    split,
)
from benchmarks.experiments.results import (
    ExperimentResult,
    ResultSheet,
    Watch,
    bar_series,
    column,
    curve,
    curves,
    grouped,
    mean,
)
from crowdclust_app.domain.plots import Bars, Curves
from crowdclust_app.evaluation.label_simulation import Codes, Floats

JOINT = "gp"
METHODS = (JOINT, "majority+gp", "em+gp", "dawid-skene+gp", "experts", "gold+gp")
"""The joint model; the same process on hard labels of others; the logistic regression; the process on the truth."""

TRIALS = (
    "data", "kept", "method", "seed", "accuracy", "label_accuracy", "expertise_error", "covered", "worst_expert",
    "worst_spammer", "worst_adversary", "seconds",
)  # fmt: skip
FIGURES = (
    "data", "kept", "method", "seeds", "accuracy", "accuracy_sd", "label_accuracy", "expertise_error", "covered",
    "worst_expert", "worst_spammer", "worst_adversary", "seconds",
)  # fmt: skip
ROUNDS = ("data", "strategy", "round", "seed", "questions", "accuracy", "expertise_error", "seconds")
CURVE = ("data", "strategy", "round", "seeds", "questions", "accuracy", "accuracy_sd", "expertise_error", "seconds")


@dataclass(frozen=True, slots=True)
class Crowds:
    """What is compared.

    Parameters
    ----------
    seeds
        Of split, crowd and methods.
    sets
        Items with features; drawn signs when empty.
    methods
        As the learner knows them.
    kept
        Shares of all labels that are there.
    train
        Items to learn from; the others are for the test.
    workers
        How often each is right.
    """

    seeds: tuple[int, ...]
    sets: tuple[FeatureSet, ...] = ()
    methods: tuple[str, ...] = METHODS
    kept: tuple[float, ...] = (0.5, 0.3)
    train: int = 300
    workers: tuple[float, ...] = TEN_WORKERS


def run_crowds(settings: Crowds, learn: CrowdLearner, watch: Watch) -> ExperimentResult:
    """Let every method learn from the same crowds (docs/experts.md, section 14).

    Parameters
    ----------
    settings
        What is compared.
    learn
        Runs a method.
    watch
        Told before every trial; may cancel.
    """
    sets = settings.sets or (drawn_signs(1500, 0),)
    total = len(sets) * len(settings.kept) * len(settings.seeds) * len(settings.methods)
    rows: list[tuple[Any, ...]] = []
    for items in sets:
        for kept in settings.kept:
            for seed in settings.seeds:
                rng = np.random.default_rng(seed)
                train, test = split(items, min(settings.train, 2 * len(items.X) // 3), rng)
                said = asked(answers(train.truth, settings.workers, rng), kept, rng)
                for method in settings.methods:
                    watch.at(len(rows), total, f"{items.name}, {kept:.0%} of the labels, seed {seed}, {method}")
                    found = learn(train, said, test.X, method, seed)
                    rows.append((items.name, kept, method, seed, *_judged(found, train, test, settings.workers)))
    order = {method: place for place, method in enumerate(settings.methods)}
    rows.sort(key=lambda row: (tuple(one.name for one in sets).index(row[0]), -row[1], order[row[2]], row[3]))
    figures = tuple(_crowd_figures(rows))
    return ExperimentResult(
        ResultSheet("trials", TRIALS, tuple(rows)), ResultSheet("gp", FIGURES, figures), tuple(_bars(figures))
    )


def _judged(found: LearnedClasses, train: FeatureSet, test: FeatureSet, workers: tuple[float, ...]) -> tuple[Any, ...]:
    accuracy, of_labels = right_share(found.test, test.truth), right_share(found.train, train.truth)
    if not len(found.expertise):
        return accuracy, of_labels, None, None, None, None, None, found.seconds
    skill = np.array(workers)
    wrong = np.abs(found.expertise - skill)
    covered = float((wrong <= 2.0 * found.spread).mean())
    experts, spammers, adversaries = kinds_of(workers)
    return (
        accuracy, of_labels, float(wrong.mean()), covered,
        float(found.expertise[experts].min(initial=1.0)),
        float(np.abs(found.expertise[spammers] - 0.5).max(initial=0.0)),
        float(found.expertise[adversaries].max(initial=0.0)), found.seconds,
    )  # fmt: skip


def _crowd_figures(rows: list[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    for key, of_one in grouped(rows, 3).items():
        means = (_mean_if_known(of_one, 6), _mean_if_known(of_one, 7))
        worst: tuple[Any, ...] = (None, None, None)
        if of_one[0][8] is not None:
            worst = min(row[8] for row in of_one), max(row[9] for row in of_one), max(row[10] for row in of_one)
        yield *key, len(of_one), *column(of_one, 4), mean(of_one, 5), *means, *worst, mean(of_one, 11)


def _bars(figures: tuple[tuple[Any, ...], ...]) -> Iterator[Bars]:
    for (name,), of_set in grouped(figures, 1).items():
        by_share = {share: list(zip(*rows, strict=True)) for (_, share), rows in grouped(of_set, 2).items()}
        series = tuple(
            bar_series(f"{share:.0%} of the labels", cells[4], cells[5]) for share, cells in by_share.items()
        )
        methods = tuple(next(iter(by_share.values()))[2])
        yield Bars("", f"Learning from a crowd: {name}", "method", "test accuracy", methods, series)


@dataclass(frozen=True, slots=True)
class Strategy:
    """How questions are chosen.

    Parameters
    ----------
    name
        What it is called.
    items
        The least certain item, or any.
    workers
        Those who promise most, or anybody.
    learner
        The joint model, or the same process on the majority's labels.
    """

    name: str
    items: Literal["entropy", "random"]
    workers: Literal["expert", "random"]
    learner: Literal["joint", "majority"] = "joint"


FOUR = (
    Strategy("random items, random workers", "random", "random"),
    Strategy("uncertain items, random workers", "entropy", "random"),
    Strategy("random items, experts", "random", "expert"),
    Strategy("uncertain items, experts", "entropy", "expert"),
)
BOTH_ENDS = (Strategy("uniform, majority", "random", "random", "majority"), FOUR[3])
"""What learning from images and choosing whom to ask is worth in questions."""


class ActiveLearner(Protocol):
    """A classifier that learns on from more labels, and says what it would ask."""

    def learn(self, said: Codes) -> None:
        """Learn from all labels so far: 1, -1, 0 for not asked; shape (N, R)."""
        ...

    def predict(self, X: Floats) -> Floats:
        """Probability of yes; shape (M,)."""
        ...

    def item(self, candidates: Codes) -> int:
        """The one of these items it is least certain of."""
        ...

    def workers(self) -> list[int]:
        """All workers, the most promising first."""
        ...

    def expertise(self) -> Floats:
        """How often each worker is thought to be right; shape (R,), or empty."""
        ...


MakeLearner = Callable[[FeatureSet, str, int], ActiveLearner]
"""A learner for these items, `"joint"` or `"majority"`, with this seed."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What is compared.

    Parameters
    ----------
    seeds
        Of split, crowd, start and whatever is random.
    sets
        Items with features; drawn signs when empty.
    strategies
        How questions are chosen.
    pool, start
        Items that may be asked about, and how many of them everybody has answered at the start.
    rounds, every
        How many questions, and after how many the accuracy is taken.
    answers_each
        Workers who are asked about an item.
    workers
        How often each is right.
    """

    seeds: tuple[int, ...]
    sets: tuple[FeatureSet, ...] = ()
    strategies: tuple[Strategy, ...] = FOUR
    pool: int = 600
    start: int = 20
    rounds: int = 100
    every: int = 25
    answers_each: int = 3
    workers: tuple[float, ...] = TEN_WORKERS


def run_asking(settings: Asking, make: MakeLearner, watch: Watch) -> ExperimentResult:
    """Let every strategy ask the same crowd (docs/experts.md, section 9).

    Parameters
    ----------
    settings
        What is compared.
    make
        Makes a learner.
    watch
        Told before every trial; looked at every round.
    """
    sets = settings.sets or (drawn_signs(1500, 0),)
    total = len(sets) * len(settings.strategies) * len(settings.seeds)
    rows: list[tuple[Any, ...]] = []
    done = 0
    for items in sets:
        for strategy in settings.strategies:
            for seed in settings.seeds:
                watch.at(done, total, f"{items.name}, {strategy.name}, seed {seed}")
                done += 1
                rows += [
                    (items.name, strategy.name, *row) for row in _ask(settings, items, strategy, seed, make, watch)
                ]
    names, order = [one.name for one in sets], [one.name for one in settings.strategies]
    rows.sort(key=lambda row: (names.index(row[0]), order.index(row[1]), row[2], row[3]))
    figures = tuple(
        (*key, len(of_one), mean(of_one, 4), *column(of_one, 5), _mean_if_known(of_one, 6), mean(of_one, 7))
        for key, of_one in grouped(rows, 3).items()
    )
    return ExperimentResult(
        ResultSheet("trials", ROUNDS, tuple(rows)), ResultSheet("asking", CURVE, figures), tuple(_curves(figures))
    )


def _mean_if_known(rows: list[tuple[Any, ...]], place: int) -> float | None:
    return None if rows[0][place] is None else mean(rows, place)


def _ask(
    settings: Asking, items: FeatureSet, strategy: Strategy, seed: int, make: MakeLearner, watch: Watch
) -> Iterator[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 5])
    pool, test = split(items, min(settings.pool, 3 * len(items.X) // 4), rng)
    everything = answers(pool.truth, settings.workers, rng)
    said = np.zeros_like(everything)
    begin = rng.permutation(len(pool.X))[: settings.start]
    said[begin] = everything[begin]
    learner = make(pool, strategy.learner, seed)
    skill, count = np.array(settings.workers), len(settings.workers)
    questions, seconds = settings.start * count, 0.0
    for number in range(settings.rounds + 1):
        watch.check()
        if strategy.learner == "joint" or number % settings.every == 0:  # votes are nobody's guide to the next question
            began = time.process_time()
            learner.learn(said)
            seconds += time.process_time() - began
        if number % settings.every == 0:
            known = learner.expertise()
            wrong = float(np.abs(known - skill).mean()) if len(known) else None
            accuracy = right_share(learner.predict(test.X), test.truth)
            yield number, seed, questions, accuracy, wrong, seconds
        # the same luck for every strategy
        luck = np.random.default_rng([seed, 6, number])
        free = np.flatnonzero(~said.any(axis=1))
        if not len(free):
            return
        item = int(luck.choice(free)) if strategy.items == "random" else learner.item(free)
        order = luck.permutation(count).tolist()
        chosen = order if strategy.workers == "random" else learner.workers()
        chosen = chosen[: settings.answers_each]
        said[item, chosen] = everything[item, chosen]
        questions += len(chosen)


def questions_needed(outcome: ExperimentResult, accuracy: float) -> dict[tuple[str, str], float | None]:
    """Questions after which the mean over seeds first reaches an accuracy, by set and strategy; None if it never does.

    Parameters
    ----------
    outcome
        Of `run_asking`.
    accuracy
        To be reached.
    """
    found: dict[tuple[str, str], float | None] = {}
    for (name, strategy), of_one in grouped(outcome.figures.rows, 2).items():
        reached = [row[4] for row in of_one if row[5] >= accuracy]
        found[name, strategy] = reached[0] if reached else None
    return found


def _curves(figures: tuple[tuple[Any, ...], ...]) -> Iterator[Curves]:
    for (name,), of_set in grouped(figures, 1).items():
        by_strategy = {strategy: list(zip(*rows, strict=True)) for (_, strategy), rows in grouped(of_set, 2).items()}
        lines = [curve(strategy, cells[4], cells[5], cells[6]) for strategy, cells in by_strategy.items()]
        yield curves(f"Asking: {name}", "labels", "test accuracy", lines)
