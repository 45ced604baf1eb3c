"""The experiments of the paper as commands: methods on the same campaigns, tables and plots of what came out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.report import BenchReport, check_names, check_seeds, place_for, report_of, write_outcome
from crowdclust_app.domain.errors import UserError, no_convergence_warning
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.methods import METHODS, names_of
from crowdclust_app.services.progress_report import Progress, ProgressReport

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from benchmarks.experiments.results import ExperimentResult, MethodResult, Watch
    from benchmarks.experiments.table1 import Known
    from crowdclust_app.domain.cancellation import CancelToken
    from crowdclust_app.domain.response_table import ResponseTable

EXPERIMENTS = {
    "table1": "every method on simulated campaigns of the paper's sizes, and on known ones (--data)",
    "hard": "every method on small hard campaigns, for many seeds: 1,000 items, 10 uneven categories, R = 1 and 5",
    "redundancy": "how near the methods come to the truth as items are in more HITs",
    "workers": "who does the work, and what is lost without the most or the least active workers",
    "context": "dividing found clusters again against one run over everything",
    "calibration": "whether two items go together as often as a fit says",
    "scale": "time and memory of a fit for 1,000 to 37,794 items",
}

OF_REDUNDANCY = ("crowdclustering", "consensus", "nmf", "nmf-masked", "cspa", "mcla", "spectral")
"""Methods of Figure 4 (right) when none are named, and the strongest of the others."""


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """What is run.

    Parameters
    ----------
    name
        One of `EXPERIMENTS`.
    methods
        To compare; the experiment's own when empty. `workers` and `context` try the first alone.
    seed, seeds
        The first seed, and how many.
    starts
        Of crowdclustering and consensus.
    restarts
        Of the baselines.
    quick
        Run a small version that shows how it works and nothing else.
    data
        A folder with a `responses.csv` and a `truth.csv`, or with folders that have them; for `table1`.
    items, dimensions, threads
        For `scale`: how many items the campaigns have, the experiment's own when empty; dimensions of the fits; how
        many threads share their work, as many as there are cores when None.
    """

    name: str
    methods: tuple[str, ...] = ()
    seed: int = 0
    seeds: int = 3
    starts: int = 4
    restarts: int = 10
    quick: bool = False
    data: Path | None = None
    items: tuple[int, ...] = ()
    dimensions: tuple[int, ...] = (4,)
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.name not in EXPERIMENTS:
            raise UserError(f"there is no experiment {self.name}", todo=f"choose one of {', '.join(EXPERIMENTS)}")
        check_names("method", self.methods, names_of("clustering", "baseline"))
        check_seeds(self.seed, self.seeds)
        for name in ("starts", "restarts"):
            if getattr(self, name) < 1:
                raise UserError(f"the number of {name} must be at least 1", todo="raise it")
        if self.items and self.name != "scale":
            raise UserError("numbers of items are for scale only", todo="leave --items out")
        if min(self.items, default=36) < 36 or min(self.dimensions, default=0) < 1:
            raise UserError("a campaign has at least 36 items, and a fit one dimension", todo="choose larger numbers")
        if self.data is not None and self.name != "table1":
            raise UserError("known campaigns are for table1 only", todo="leave --data out")


def run_bench(
    settings: BenchSettings,
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
        As everywhere; a cancel stops within a sweep.

    Raises
    ------
    UserError
        When a package or the data is missing, before anything is computed.
    """
    methods, warnings = _methods(settings)
    known = _known_campaigns(settings.data) if settings.data else ()
    with place_for(out):
        _warm_up(methods)
        outcome = _EXPERIMENTS[settings.name](settings, methods, known, _Bench(settings, progress, cancel))
        written = write_outcome(settings.name, outcome, out) if out is not None else ()
    return report_of(settings.name, settings.quick, _seeds(settings), methods, warnings, outcome, written)


class _Bench:
    """The methods as an experiment calls them, and its progress."""

    def __init__(self, settings: BenchSettings, progress: Progress | None, cancel: CancelToken | None) -> None:
        from benchmarks.experiments.results import Watch

        self.settings = settings
        self.progress = progress
        self.cancel = cancel
        self.watch: Watch = Watch(self._trial if progress else None, cancel)
        self._now = (0, 1, "")

    def _trial(self, done: int, total: int, text: str) -> None:
        self._now = (done, total, text)
        assert self.progress is not None
        self.progress(ProgressReport(done, total, text))

    def tell(self, report: ProgressReport) -> None:
        """Pass on how far the fit of a trial is."""
        if self.progress:
            done, total, text = self._now
            self.progress(ProgressReport(done, total, f"{text}: {report.text}"))

    def solve(self, table: ResponseTable, method: str, clusters: int, seed: int) -> MethodResult:
        """Cluster a table: with everything automatic, or by a baseline that is told the number of clusters."""
        import time

        from benchmarks.experiments.results import MethodResult
        from crowdclust_app.inference.consensus import ConsensusClustering, Step
        from crowdclust_app.services.fits.fitting import fit_table

        if METHODS[method].kind != "baseline":
            chosen = FitSettings(method=method, n_starts=self.settings.starts, seed=seed)
            result = fit_table(table, chosen, self.tell, self.cancel)
            return MethodResult(_shown_only(result.labels, result.shown), float(result.summary["seconds"]))

        def report(step: Step) -> None:
            self.tell(ProgressReport(step.done, step.total, step.text))

        began = time.perf_counter()
        model = ConsensusClustering(method=method, n_clusters=clusters, n_starts=self.settings.restarts, seed=seed)
        with no_convergence_warning():
            labels = model.fit(table, progress=report, cancel=self.cancel).labels_
        return MethodResult(labels, time.perf_counter() - began)


def _table1(
    settings: BenchSettings, methods: tuple[str, ...], known: tuple[Known, ...], bench: _Bench
) -> ExperimentResult:
    from benchmarks.experiments.table1 import HARD_CAMPAIGNS, QUICK, Table1, run_table1

    chosen = Table1(methods, _seeds(settings), known=known)
    if settings.name == "hard":
        chosen = replace(chosen, simulated=HARD_CAMPAIGNS, name="hard")
    if settings.quick:
        chosen = replace(chosen, simulated=(("small", QUICK),))
    return run_table1(chosen, bench.solve, bench.watch)


def _redundancy(settings: BenchSettings, methods: tuple[str, ...], _: Any, bench: _Bench) -> ExperimentResult:
    from benchmarks.experiments.redundancy import Redundancy, run_redundancy
    from benchmarks.experiments.table1 import QUICK

    chosen = Redundancy(methods, _seeds(settings))
    if settings.quick:
        chosen = replace(chosen, values=(2, 4), simulation=QUICK)
    return run_redundancy(chosen, bench.solve, bench.watch)


def _workers(settings: BenchSettings, methods: tuple[str, ...], _: Any, bench: _Bench) -> ExperimentResult:
    from benchmarks.experiments.table1 import QUICK
    from benchmarks.experiments.workers import Workers, run_workers

    chosen = Workers(methods[0], _seeds(settings))
    if settings.quick:
        chosen = replace(chosen, steps=2, simulation=replace(QUICK, pareto=True))
    return run_workers(chosen, bench.solve, bench.watch)


def _context(settings: BenchSettings, methods: tuple[str, ...], _: Any, bench: _Bench) -> ExperimentResult:
    from benchmarks.experiments.context import Context, run_context

    chosen = Context(methods[0], _seeds(settings))
    if settings.quick:
        chosen = replace(chosen, items=96, families=2, kinds=2, items_per_hit=12, redundancy=5)
        chosen = replace(chosen, workers_per_hit=3, workers=8)
    return run_context(chosen, bench.solve, bench.watch)


def _scale(settings: BenchSettings, _: tuple[str, ...], __: Any, bench: _Bench) -> ExperimentResult:
    from benchmarks.scale_benchmark import bench_scale

    chosen = (settings.items, settings.dimensions, settings.threads, settings.quick)
    return bench_scale(_seeds(settings), *chosen, bench.watch, bench.tell, bench.cancel)


def _calibration(settings: BenchSettings, _: tuple[str, ...], __: Any, bench: _Bench) -> ExperimentResult:
    from benchmarks.experiments.calibration import Calibration, run_calibration

    chosen = Calibration(len(_seeds(settings)))
    return run_calibration(replace(chosen, rows=chosen.rows[:3]) if settings.quick else chosen, bench.watch)


_EXPERIMENTS: dict[str, Callable[[BenchSettings, tuple[str, ...], tuple[Known, ...], _Bench], ExperimentResult]] = {
    "table1": _table1,
    "hard": _table1,
    "redundancy": _redundancy,
    "workers": _workers,
    "context": _context,
    "calibration": _calibration,
    "scale": _scale,
}


def _seeds(settings: BenchSettings) -> tuple[int, ...]:
    return tuple(range(settings.seed, settings.seed + settings.seeds))


def _methods(settings: BenchSettings) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The methods to compare, and what had to be left out."""
    from crowdclust_app.inference.consensus.partitioning import require_metis

    every = names_of("clustering", "baseline")
    own = {"table1": every, "hard": every, "redundancy": OF_REDUNDANCY}.get(settings.name, ("crowdclustering",))
    methods = settings.methods or own
    need_metis = [name for name in methods if METHODS[name].needs_metis]
    if not need_metis:
        return methods, ()
    try:
        require_metis()
    except UserError as error:
        if settings.methods:
            raise
        left = tuple(method for method in methods if method not in need_metis)
        return left, (f"Left out: {', '.join(need_metis)}; {error}",)
    return methods, ()


def _known_campaigns(folder: Path) -> tuple[Known, ...]:
    """Read every folder with responses and known categories."""
    from benchmarks.experiments.table1 import Known
    from crowdclust_app.services.fits.sources import read_table_source, read_truth_source

    candidates = [folder, *sorted(path for path in folder.glob("*") if path.is_dir())]
    found = []
    for path in candidates:
        if (path / "responses.csv").is_file() and (path / "truth.csv").is_file():
            table = read_table_source(path / "responses.csv").table
            truth = read_truth_source(path / "truth.csv", table).categories
            found.append(Known(path.resolve().name, table, tuple(truth.get(name) for name in table.item_names)))
    if not found:
        what = "there is no folder with a responses.csv and a truth.csv"
        raise UserError(what, where=str(folder), todo="name the folder that holds them")
    return tuple(found)


def _warm_up(methods: tuple[str, ...]) -> None:
    """Have kernels compiled, which must not count as a method's time."""
    from crowdclust_app.domain.response_table import Response, ResponseTable
    from crowdclust_app.inference.consensus import ConsensusClustering
    from crowdclust_app.services.fits.fitting import compile_kernels

    compile_kernels()
    if set(methods) & set(names_of("baseline")):
        toy = ResponseTable.from_responses([Response("h", "w", tuple("abcd"), tuple("1122"))])
        with no_convergence_warning():
            ConsensusClustering(method="nmf-masked", n_starts=1, max_iterations=1).fit(toy)


def _shown_only(labels: NDArray[np.int64], shown: NDArray[np.bool_]) -> NDArray[np.int64]:
    import numpy as np

    return np.where(shown, labels, 0)
