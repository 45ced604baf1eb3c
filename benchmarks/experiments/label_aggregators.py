"""Figures 1 to 3 of liu2012 and Figure 4 of raykar2009: aggregators on regular graphs and on parts of real sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.experiments.labelling import KnownSet, LabelMethod, error_rate, oracle_scores
from benchmarks.experiments.results import ExperimentResult, ResultSheet, Watch, column, curve, curves, grouped, mean
from benchmarks.label_subsets import some_labels_a_task, some_workers
from crowdclust_app.domain.plots import Curve, Curves
from crowdclust_app.evaluation.label_simulation import AccuracyPrior, LabelledTasks, SimulatedLabels, simulate_regular

TRIALS = ("figure", "x", "aggregator", "seed", "error", "error_all", "seconds")
FIGURES = ("figure", "x", "aggregator", "seeds", "error", "error_sd", "error_all", "error_all_sd", "seconds")

ORACLE = "oracle"
TRUE_PRIOR = "true"


@dataclass(frozen=True, slots=True)
class Contestant:
    """An aggregator with the prior it believes in; `"true"` is the one that the data were drawn from."""

    name: str
    method: str
    prior: tuple[float, float] | str = (2.0, 1.0)


OF_GRAPHS = (
    Contestant("KOS", "kos"),
    Contestant("MV", "majority"),
    Contestant("Oracle", ORACLE),
    Contestant("BP-True", "bp", TRUE_PRIOR),
    Contestant("BP-Beta(2,1)", "bp"),
    Contestant("BP-Beta(1,1)", "bp", (1.0, 1.0)),
    Contestant("EM-Beta(2,1)", "em"),
    Contestant("AMF-Beta(2,1)", "amf"),
)
OF_SETS = (
    Contestant("KOS", "kos"),
    Contestant("MV", "majority"),
    Contestant("BP-Beta(2,1)", "bp"),
    Contestant("EM-Beta(2,1)", "em"),
    Contestant("AMF-Beta(2,1)", "amf"),
    Contestant("BP-Beta2(2,1)", "bp2"),
    Contestant("EM-Beta2(2,1)", "em2"),
    Contestant("AMF-Beta2(2,1)", "amf2"),
)
OF_WORKERS = (
    Contestant("MV", "majority"),
    Contestant("EM algorithm", "dawid-skene", (1.0, 1.0)),
    Contestant("EM-Beta2(2,1)", "em2"),
)
"""Raykar's EM without features is Dawid and Skene's with an estimated prevalence."""


@dataclass(frozen=True, slots=True)
class Graph:
    """One point of a figure: `x`, the degrees of tasks (`l`) and of workers (`gamma`), and the workers' prior."""

    x: float
    workers_per_task: int
    tasks_per_worker: int
    prior: AccuracyPrior


@dataclass(frozen=True, slots=True)
class GraphPanel:
    """One panel of simulated graphs."""

    figure: str
    title: str
    x_label: str
    points: tuple[Graph, ...]


def spammers(share: float, adversaries: float = 0.0) -> AccuracyPrior:
    """Workers who are right .5, .9 or .1 of the time: spammers, hammers, adversaries.

    Parameters
    ----------
    share
        Of spammers.
    adversaries
        Share of those; hammers are the rest.
    """
    shares = {0.1: adversaries, 0.5: share, 0.9: 1.0 - share - adversaries}
    return {accuracy: part for accuracy, part in shares.items() if part > 0}


def _figure1() -> tuple[GraphPanel, ...]:
    half = spammers(0.5)
    return (
        GraphPanel("1a", "Figure 1: γ = 5", "ℓ, workers a task",
              tuple(Graph(n, n, 5, half) for n in (5, 10, 15, 20, 25))),
        GraphPanel("1b", "Figure 1: ℓ = 15", "γ, tasks a worker",
              tuple(Graph(n, 15, n, half) for n in (2, 3, 5, 8, 10))),
        GraphPanel("1c", "Figure 1: ℓ = γ", "ℓ = γ",
              tuple(Graph(n, n, n, half) for n in (3, 5, 8, 10, 12, 15))),
    )  # fmt: skip


def _figure2() -> tuple[GraphPanel, ...]:
    sizes, means = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0), (0.55, 0.6, 0.65, 0.7)
    spam, against = (0.3, 0.45, 0.6, 0.75, 0.9), (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
    return (
        GraphPanel("2a", "Figure 2a: Beta prior of mean 0.6", "α + β",
              tuple(Graph(n, 9, 9, (0.6 * n, 0.4 * n)) for n in sizes)),
        GraphPanel("2b", "Figure 2b: Beta prior, α + β = 1", "α / (α + β)",
              tuple(Graph(p, 9, 9, (p, 1.0 - p)) for p in means)),
        GraphPanel("2c", "Figure 2c: spammers and hammers", "share of spammers",
              tuple(Graph(p, 9, 9, spammers(p)) for p in spam)),
        GraphPanel("2d", "Figure 2d: and adversaries", "share of adversaries",
              tuple(Graph(p, 9, 9, spammers((1.0 - p) / 2.0, p)) for p in against)),
    )  # fmt: skip


CURVES = (*_figure1(), *_figure2())


@dataclass(frozen=True, slots=True)
class Aggregators:
    """What is compared.

    Parameters
    ----------
    seeds
        One graph, crowd or part of a real set each.
    n_tasks
        Of simulated graphs.
    curves, of_graphs
        Figures 1 and 2 and who takes part.
    known, of_sets
        Real sets for Figure 3, subsampled by labels a task, and who takes part.
    by_workers, of_workers
        Names of those sets for Raykar's Figure 4, subsampled by workers, and who takes part.
    points
        Sizes of the parts of real sets, at most.
    """

    seeds: tuple[int, ...]
    n_tasks: int = 1000
    curves: tuple[GraphPanel, ...] = CURVES
    of_graphs: tuple[Contestant, ...] = OF_GRAPHS
    known: tuple[KnownSet, ...] = ()
    of_sets: tuple[Contestant, ...] = OF_SETS
    by_workers: tuple[str, ...] = ("rte",)
    of_workers: tuple[Contestant, ...] = OF_WORKERS
    points: int = 8


@dataclass(frozen=True, slots=True)
class _Trial:
    """One set of labels of a figure: where it stands, how it is aggregated, and what is drawn for a seed."""

    figure: str
    x: float
    contestants: tuple[Contestant, ...]
    source: Graph | KnownSet
    by_worker: bool = False


def run_aggregators(settings: Aggregators, label_method: LabelMethod, watch: Watch) -> ExperimentResult:
    """Run every aggregator on every simulated graph and every part of a real set, for every seed.

    Parameters
    ----------
    settings
        What is compared.
    label_method
        Runs a method.
    watch
        Told before every trial; may cancel.
    """
    plan = list(_plan(settings))
    total = sum(len(trial.contestants) for trial in plan) * len(settings.seeds)
    rows: list[tuple[Any, ...]] = []
    for trial in plan:
        for seed in settings.seeds:
            tasks = _draw(trial, settings.n_tasks, seed)
            for contestant in trial.contestants:
                watch.at(len(rows), total, f"figure {trial.figure}, {trial.x:g}, seed {seed}, {contestant.name}")
                rows.append(
                    (
                        trial.figure,
                        trial.x,
                        contestant.name,
                        seed,
                        *_judged(trial, tasks, contestant, seed, label_method),
                    )
                )
    figures = tuple(
        (*key, len(of_one), *column(of_one, 4), *column(of_one, 5), mean(of_one, 6))
        for key, of_one in grouped(rows, 3).items()
    )
    sheet = ResultSheet("trials", TRIALS, tuple(rows))
    return ExperimentResult(sheet, ResultSheet("aggregators", FIGURES, figures), tuple(_panels(settings, figures)))


def _plan(settings: Aggregators) -> Iterator[_Trial]:
    for panel in settings.curves:
        for point in panel.points:
            yield _Trial(panel.figure, point.x, settings.of_graphs, point)
    for known in settings.known:
        labels = known.tasks.labels
        usual = int(np.median(np.bincount(labels.task, minlength=labels.n_tasks)))
        for count in _sizes(1, usual, settings.points):
            yield _Trial(f"3 {known.name}", count, settings.of_sets, known)
    for known in settings.known:
        if known.name in settings.by_workers:
            workers = len(np.unique(known.tasks.labels.worker))
            for count in _sizes(max(1, workers // settings.points), workers, settings.points):
                yield _Trial(f"Raykar 4 {known.name}", count, settings.of_workers, known, by_worker=True)


def _sizes(least: int, most: int, count: int) -> list[int]:
    return sorted({round(size) for size in np.linspace(min(least, most), most, count)})


def _draw(trial: _Trial, n_tasks: int, seed: int) -> LabelledTasks:
    if isinstance(trial.source, Graph):
        point = trial.source
        return simulate_regular(n_tasks, point.workers_per_task, point.tasks_per_worker, point.prior, seed)
    known = trial.source.tasks
    rng = np.random.default_rng([seed, int(trial.x)])
    part = some_workers if trial.by_worker else some_labels_a_task
    return LabelledTasks(part(known.labels, int(trial.x), rng), known.truth)


def _judged(
    trial: _Trial, tasks: LabelledTasks, contestant: Contestant, seed: int, label_method: LabelMethod
) -> tuple[float, float, float]:
    """Error over the tasks with labels, error over all (half of those without are wrong), seconds."""
    labels: SimulatedLabels = tasks.labels
    seconds = 0.0
    if contestant.method == ORACLE:
        assert tasks.accuracies is not None
        scores = oracle_scores(labels, tasks.accuracies)
    else:
        prior: AccuracyPrior
        if isinstance(contestant.prior, str):
            assert isinstance(trial.source, Graph)
            prior = trial.source.prior
        else:
            prior = contestant.prior
        found = label_method(labels, contestant.method, prior, seed)
        scores, seconds = found.scores, found.seconds
    labelled = np.bincount(labels.task, minlength=labels.n_tasks) > 0
    everywhere = error_rate(np.where(labelled, scores, 0.0), tasks.truth)
    return error_rate(scores, tasks.truth, labels), everywhere, seconds


def _panels(settings: Aggregators, figures: tuple[tuple[Any, ...], ...]) -> Iterator[Curves]:
    of_figure = grouped(figures, 1)
    for panel in settings.curves:
        lines = _lines(of_figure[(panel.figure,)], 4)
        yield curves(panel.title, panel.x_label, "error", lines, log="y")
    for (figure,), rows in of_figure.items():
        if str(figure).startswith("3 "):
            lines = _lines(rows, 4, spread=True)
            yield curves(f"Figure {figure}", "labels a task", "error", lines)
        elif str(figure).startswith("Raykar"):
            right = tuple(replace(line, y=1.0 - line.y) for line in _lines(rows, 6, spread=True))
            yield curves(f"{figure}", "workers", "accuracy over all tasks", right)


def _lines(rows: list[tuple[Any, ...]], position: int, spread: bool = False) -> tuple[Curve, ...]:
    """A line for each aggregator; without spread it is for a logarithmic axis, which has no place for errors of 0."""
    lines = []
    for (name,), of_one in grouped([row[2:3] + row for row in rows], 1).items():
        shown = [row[1:] for row in of_one if row[1:][position] > 0 or spread]
        around = tuple(row[position + 1] for row in shown) if spread else ()
        lines.append(curve(str(name), (row[1] for row in shown), (row[position] for row in shown), around))
    return tuple(lines)
