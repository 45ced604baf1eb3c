"""Figures 2 and 3 and Table 2 of manino2019: sampling policies and aggregators, with the bounds of the theorems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.experiments.asking import Bought, Margin, SimulatedCrowd, ask_between_fits, ask_one_by_one
from benchmarks.experiments.labelling import KnownSet, LabelMethod, error_rate
from benchmarks.experiments.published import TABLE2, remark
from benchmarks.experiments.results import (
    ExperimentResult,
    ResultSheet,
    Watch,
    column,
    curve,
    curves,
    grouped,
    mean,
    mean_and_sd,
)
from benchmarks.experiments.theorems import Policy, Variant, bound
from crowdclust_app.domain.plots import Curve, Curves
from crowdclust_app.evaluation.label_simulation import SimulatedLabels
from crowdclust_app.sampling.asking import UNCERTAINTY, UNIFORM, StreamingPosterior

TRIALS = ("policy", "method", "labels_per_task", "seed", "error", "fit_ms", "run_ms", "labels_per_fit")
FIGURES = (
    "policy", "method", "labels_per_task", "seeds", "error", "error_sd", "bound", "fit_ms", "run_ms", "labels_per_fit",
)  # fmt: skip
TABLE = ("data", "method", "tasks", "seeds", "error", "error_sd", "published", "difference", "remark")

MAJORITY = "majority"
FAST = "sbic-fast"
BOUNDED: dict[str, Variant] = {FAST: "fast", "sbic-sorted": "sorted", "sbic-sorted-shared": "sorted"}
RANDOMISED = frozenset({"gibbs", FAST, "sbic-sorted", "sbic-sorted-shared"})
"""Methods that draw something, or the order of the labels."""

ALL = ("sbic-fast", "sbic-sorted-shared", "majority", "em", "amf", "bp", "kos", "gibbs", "mf", "te")
"""What is compared when nothing is named."""

GENERIC_PRIOR = (2.0, 1.0)
"""Of real sets, as in the paper."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """What is compared.

    Parameters
    ----------
    methods
        All of them sample uniformly, and those in `adaptive` by uncertainty as well.
    seeds
        One simulated crowd each; on real sets one order of the labels each.
    adaptive
        Methods that are also given uncertainty sampling, each driven by its own beliefs. TE is not: where every worker
        gives ten labels its triangles are empty.
    n_tasks, labels_per_worker, prior
        `M`, `L` and the Beta distribution of accuracies.
    uniform, uncertainty
        Labels a task at which the error is taken, in ascending order.
    labels_per_fit
        Labels that are bought between two fits, by methods that cannot take in single labels; the methods in `slow`
        buy `slow_labels_per_fit`.
    known
        Real sets for Table 2.
    """

    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    adaptive: tuple[str, ...] = tuple(name for name in ALL if name != "te")
    n_tasks: int = 1000
    labels_per_worker: int = 10
    prior: tuple[float, float] = (4.0, 3.0)
    uniform: tuple[int, ...] = (5, 10, 20, 30, 40, 50, 60, 70, 80)
    uncertainty: tuple[int, ...] = (5, 10, 15, 20, 25, 30, 35, 40)
    labels_per_fit: int = 50
    slow: frozenset[str] = frozenset({"mf", "bp", "gibbs", "te"})
    slow_labels_per_fit: int = 250
    known: tuple[KnownSet, ...] = ()


def run_sampling(
    settings: Sampling, label_method: LabelMethod, streaming: Callable[[], StreamingPosterior], watch: Watch
) -> ExperimentResult:
    """Buy labels from simulated crowds under both policies, and aggregate real sets.

    Parameters
    ----------
    settings
        What is compared.
    label_method
        Runs a method.
    streaming
        Makes the belief of Fast SBIC that has seen nothing, under the prior of the settings.
    watch
        Told before every trial; may cancel.
    """
    trials = _Trials(settings, label_method, streaming, watch)
    rows = sorted(trials.simulated(), key=trials.place)
    table = tuple(trials.table2())
    sheets = (ResultSheet("table2", TABLE, table),) if table else ()
    figures = tuple(_figure_rows(settings, rows))
    return ExperimentResult(
        ResultSheet("trials", TRIALS, tuple(rows)), ResultSheet("sbic", FIGURES, figures), _panels(figures), sheets
    )


class _Trials:
    """Runs every trial, and counts them for whoever watches."""

    def __init__(
        self, settings: Sampling, label_method: LabelMethod, streaming: Callable[[], StreamingPosterior], watch: Watch
    ) -> None:
        self.settings = settings
        self.label_method = label_method
        self.streaming = streaming
        self.watch = watch
        self.adaptive = tuple(name for name in settings.methods if name in settings.adaptive)
        self.done = 0
        real = sum(self._repeats(method) for method in settings.methods) * len(settings.known)
        self.total = len(settings.seeds) * (len(settings.methods) + len(self.adaptive)) + real

    def place(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """Where a trial stands in the table."""
        policy, method, labels, seed = row[:4]
        return policy != UNIFORM, self.settings.methods.index(method), labels, seed

    def simulated(self) -> Iterator[tuple[Any, ...]]:
        """Trials of Figures 2 and 3."""
        settings = self.settings
        for seed in settings.seeds:
            crowd = self._crowd(seed, settings.uniform[-1])
            bought = ask_one_by_one(crowd, UNIFORM, Margin, seed, self.watch)
            for method in settings.methods:
                self._tell(f"uniform sampling, seed {seed}, {method}")
                yield from self._judged(UNIFORM, method, crowd, bought, seed, None)
            for method in self.adaptive:
                self._tell(f"uncertainty sampling, seed {seed}, {method}")
                crowd = self._crowd(seed, settings.uncertainty[-1])
                bought, per_fit = self._adaptively(method, crowd, seed)
                yield from self._judged(UNCERTAINTY, method, crowd, bought, seed, per_fit)

    def table2(self) -> Iterator[tuple[Any, ...]]:
        """Rows of Table 2, one for each real set and method."""
        for known in self.settings.known:
            truth, labels = known.tasks.truth, known.tasks.labels
            for method in self.settings.methods:
                errors = []
                for seed in self.settings.seeds[: self._repeats(method)]:
                    self._tell(f"{known.name}, seed {seed}, {method}")
                    scores = self.label_method(labels, method, GENERIC_PRIOR, seed).scores
                    errors.append(error_rate(scores, truth, labels))
                error, sd = mean_and_sd(errors)
                published = TABLE2.get(known.name, {}).get(method)
                difference = None if published is None else error - published
                why = remark(known.name, method, error, float(sd / len(errors) ** 0.5))
                counted = int((truth >= 0).sum())
                yield (known.name, method, counted, len(errors), error, sd, published, difference, why)

    def _repeats(self, method: str) -> int:
        return len(self.settings.seeds) if method in RANDOMISED else 1

    def _tell(self, text: str) -> None:
        self.watch.at(self.done, self.total, text)
        self.done += 1

    def _crowd(self, seed: int, labels_per_task: int) -> SimulatedCrowd:
        settings = self.settings
        most = labels_per_task * settings.n_tasks
        return SimulatedCrowd(settings.n_tasks, settings.labels_per_worker, most, settings.prior, seed)

    def _adaptively(self, method: str, crowd: SimulatedCrowd, seed: int) -> tuple[Bought, int]:
        """Buy labels where the method is least certain, and say how many come between two fits."""
        beliefs: dict[str, Callable[[], StreamingPosterior]] = {MAJORITY: Margin, FAST: self.streaming}
        if method in beliefs:
            return ask_one_by_one(crowd, UNCERTAINTY, beliefs[method], seed, self.watch), 1
        settings = self.settings
        per_fit = settings.slow_labels_per_fit if method in settings.slow else settings.labels_per_fit

        def believe(labels: SimulatedLabels) -> Any:
            return self.label_method(labels, method, settings.prior, seed, rough=True).scores

        return ask_between_fits(crowd, believe, per_fit, seed, self.watch), per_fit

    def _judged(
        self, policy: str, method: str, crowd: SimulatedCrowd, bought: Bought, seed: int, per_fit: int | None
    ) -> Iterator[tuple[Any, ...]]:
        """Errors at each number of labels a task."""
        for count in self.settings.uniform if policy == UNIFORM else self.settings.uncertainty:
            self.watch.check()
            labels = bought.labels.rows(slice(0, count * crowd.n_tasks))
            found = self.label_method(labels, method, self.settings.prior, seed)
            run_ms = None if per_fit is None else 1000.0 * float(bought.seconds[len(labels) - 1])
            error = error_rate(found.scores, crowd.truth)
            yield policy, method, count, seed, error, 1000.0 * found.seconds, run_ms, per_fit


def _figure_rows(settings: Sampling, rows: list[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    for (policy, method, count), of_one in grouped(rows, 3).items():
        limit = None
        if method in BOUNDED:
            which: Policy = "uniform" if policy == UNIFORM else "uncertainty"
            limit = bound(which, BOUNDED[method], count, settings.labels_per_worker, *settings.prior)
        run_ms = None if policy == UNIFORM else mean(of_one, 6)
        yield policy, method, count, len(of_one), *column(of_one, 4), limit, mean(of_one, 5), run_ms, of_one[0][7]


def _panels(figures: tuple[tuple[Any, ...], ...]) -> tuple[Curves, ...]:
    """Figure 2a, 2b and 3."""
    panels = []
    x_label = "labels a task"
    for policy, of_policy in grouped(figures, 1).items():
        by_method = grouped([row[1:] for row in of_policy], 1)
        lines = [_line(str(method), rows, 3) for (method,), rows in by_method.items()]
        limits = [
            replace(_line(f"bound, {method}", rows, 5), like=str(method))
            for (method,), rows in by_method.items()
            if method in BOUNDED
        ]
        title = f"Figure 2: {policy[0]} sampling"
        panels.append(curves(title, x_label, "error", (*lines, *limits), log="y"))
    adaptive = [row[1:] for row in figures if row[0] == UNCERTAINTY]
    if adaptive:
        times = tuple(_line(str(method), rows, 7) for (method,), rows in grouped(adaptive, 1).items())
        panels.append(curves("Figure 3: a whole run", x_label, "time (ms)", times, log="y"))
    return tuple(panels)


def _line(name: str, rows: list[tuple[Any, ...]], position: int) -> Curve:
    """One cell over the labels a task; on a logarithmic axis what is 0 is not there."""
    shown = [(row[1], row[position]) for row in rows if row[position]]
    return curve(name, (x for x, _ in shown), (float(y) for _, y in shown))
