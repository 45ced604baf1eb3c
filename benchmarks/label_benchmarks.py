"""The experiments with yes/no labels as commands: aggregators and sampling policies against the papers' figures."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.report import (
    BenchReport,
    check_names,
    check_seeds,
    data_folder,
    place_for,
    plain_rows,
    report_of,
    watch_over,
    write_outcome,
)
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.methods import METHODS, names_of
from crowdclust_app.services.progress_report import Progress

if TYPE_CHECKING:
    from benchmarks.experiments.label_aggregators import Contestant
    from benchmarks.experiments.labelling import KnownSet, Verdicts
    from benchmarks.experiments.results import ExperimentResult, Watch
    from benchmarks.label_sets import LabelSet
    from crowdclust_app.domain.cancellation import CancelToken
    from crowdclust_app.evaluation.label_simulation import AccuracyPrior, SimulatedLabels

EXPERIMENTS = {
    "sbic": "error and time of aggregators under uniform and uncertainty sampling, with the theorems' bounds",
    "aggregators": "error of aggregators on regular random graphs, and on parts of real sets (--data)",
}

# Of fits that only have to put the tasks in order.
_ROUGH_TOLERANCE = 1e-3
_ROUGH_ITERATIONS = 40
_ROUGH_GIBBS = {"n_starts": 2, "burn_in": 50, "samples": 150}
# Aggregators that are no good for yes/no labels.


@dataclass(frozen=True, slots=True)
class LabelBenchSettings:
    """What is run.

    Parameters
    ----------
    name
        One of `EXPERIMENTS`.
    methods
        Aggregators to compare; the papers' own when empty.
    seed, seeds
        The first seed, and how many.
    quick
        Run a small version that shows how it works and nothing else.
    data
        A folder with a `labels.csv` and a `truth.csv`, or with folders that have them.
    """

    name: str
    methods: tuple[str, ...] = ()
    seed: int = 0
    seeds: int = 3
    quick: bool = False
    data: Path | None = None

    def __post_init__(self) -> None:
        if self.name not in EXPERIMENTS:
            raise UserError(f"there is no experiment {self.name}", todo=f"choose one of {', '.join(EXPERIMENTS)}")
        check_names("method", self.methods, _binary_methods())
        check_seeds(self.seed, self.seeds)


def run_label_bench(
    settings: LabelBenchSettings,
    out: Path | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> BenchReport:
    """Run one experiment.

    Parameters
    ----------
    settings
        Which, how often.
    out
        Folder for its tables (CSV) and plots (PNG); nothing is written when None.
    progress, cancel
        As everywhere; a cancel stops within an iteration.

    Raises
    ------
    UserError
        When a package or the data is missing, before anything is computed.
    """
    sets, warnings = _sets(settings.data)
    watch = watch_over(progress, cancel)
    with place_for(out):
        run = _sbic if settings.name == "sbic" else _aggregators
        outcome, methods = run(settings, sets, watch)
        written = write_outcome(settings.name, outcome, out) if out is not None else ()
    result = report_of(settings.name, settings.quick, _seeds(settings), methods, warnings, outcome, written)
    result.summary.update({sheet.name: plain_rows(sheet) for sheet in outcome.sheets})
    return replace(result, more=tuple((sheet.name, sheet.header, sheet.rows) for sheet in outcome.sheets))


def _sbic(
    settings: LabelBenchSettings, sets: tuple[LabelSet, ...], watch: Watch
) -> tuple[ExperimentResult, tuple[str, ...]]:
    from benchmarks.experiments.sbic import ALL, Sampling, run_sampling
    from crowdclust_app.inference.aggregators import OnlineSBIC

    methods = settings.methods or ALL
    chosen = Sampling(methods, _seeds(settings), known=_binary(sets))
    if settings.methods:
        chosen = replace(chosen, adaptive=methods)
    if settings.quick:
        chosen = replace(
            chosen, n_tasks=60, uniform=(4, 8), uncertainty=(4, 8), labels_per_fit=20, slow_labels_per_fit=60
        )
    label_method = _FitLabels(methods, watch.cancel)
    return run_sampling(chosen, label_method, lambda: OnlineSBIC(prior=chosen.prior), watch), methods


def _aggregators(
    settings: LabelBenchSettings, sets: tuple[LabelSet, ...], watch: Watch
) -> tuple[ExperimentResult, tuple[str, ...]]:
    from benchmarks.crowd_kit_comparison import compare_speed
    from benchmarks.experiments.label_aggregators import ORACLE, Aggregators, Contestant, run_aggregators

    chosen = Aggregators(_seeds(settings), known=_binary(sets))
    if settings.methods:
        named = tuple(Contestant(name, name) for name in settings.methods)
        chosen = replace(chosen, of_graphs=(*named, Contestant("Oracle", ORACLE)), of_sets=named, of_workers=named)
    if settings.quick:
        curves = tuple(replace(curve, points=curve.points[:2]) for curve in chosen.curves)
        chosen = replace(chosen, n_tasks=90, curves=curves, points=2)
    taking_part = (*chosen.of_graphs, *chosen.of_sets, *chosen.of_workers)
    methods = _methods_of(taking_part)
    outcome = run_aggregators(chosen, _FitLabels(methods, watch.cancel), watch)
    speed = compare_speed(sets, settings.seed, watch)
    return replace(outcome, sheets=(speed,) if speed else ()), methods


def _methods_of(contestants: tuple[Contestant, ...]) -> tuple[str, ...]:
    known = _binary_methods()
    found = dict.fromkeys(contestant.method for contestant in contestants)
    return tuple(name for name in found if name in known)


class _FitLabels:
    """The aggregators as an experiment calls them."""

    def __init__(self, methods: tuple[str, ...], cancel: CancelToken | None) -> None:
        from crowdclust_app.inference.aggregators.registry import warm_up

        self.cancel = cancel
        for method in methods:
            warm_up(method)

    def __call__(
        self, labels: SimulatedLabels, method: str, prior: AccuracyPrior, seed: int, *, rough: bool = False
    ) -> Verdicts:
        """Fit, and give the log-odds of every task; 0 where the method is undecided."""
        import numpy as np

        from benchmarks.experiments.labelling import Verdicts
        from crowdclust_app.inference.aggregators import LabelTable, method_named

        names = tuple(range(labels.n_tasks)), tuple(range(labels.n_workers))
        table = LabelTable(*names, (0, 1), labels.task, labels.worker, labels.label)
        model = method_named(method)(prior=prior, seed=seed)
        if rough:
            rounds = min(model.usual_iterations, _ROUGH_ITERATIONS)
            model.set_params(tolerance=_ROUGH_TOLERANCE, max_iterations=rounds)
            model.set_params(**(_ROUGH_GIBBS if method == "gibbs" else {}))
        if labels.arrived and "order" in model.get_params():
            model.set_params(order="arrival")
        began = time.perf_counter()
        model.fit_encoded(table, cancel=self.cancel)
        seconds = time.perf_counter() - began
        with np.errstate(divide="ignore"):
            logs = np.log(model.probabilities_)
        return Verdicts(np.where(model.tied_classes_.all(axis=1), 0.0, logs[:, 1] - logs[:, 0]), seconds)


def _sets(data: Path | None) -> tuple[tuple[LabelSet, ...], tuple[str, ...]]:
    """Real sets, if a folder of them is named, and what had to be left out."""
    from benchmarks.label_sets import read_label_sets

    folder = data_folder(data)
    return read_label_sets(folder) if folder is not None else ((), ())


def _binary(sets: tuple[LabelSet, ...]) -> tuple[KnownSet, ...]:
    return tuple(known for one in sets if (known := one.as_yes_or_no()) is not None)


def _binary_methods() -> tuple[str, ...]:
    return tuple(name for name in names_of("aggregator") if METHODS[name].scale == "nominal")


def _seeds(settings: LabelBenchSettings) -> tuple[int, ...]:
    return tuple(range(settings.seed, settings.seed + settings.seeds))
