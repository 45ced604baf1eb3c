"""What fits cost as campaigns grow: time a label, memory, on as many cores as are given."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crowdclust_app.services.progress_report import Progress, ProgressReport

if TYPE_CHECKING:
    from benchmarks.experiments.results import ExperimentResult, Watch
    from benchmarks.experiments.scale import Cost
    from crowdclust_app.domain.cancellation import CancelToken
    from crowdclust_app.domain.response_table import ResponseTable

QUICK_ITERATIONS = 10


def bench_scale(
    seeds: tuple[int, ...],
    items: tuple[int, ...],
    dimensions: tuple[int, ...],
    threads: int | None,
    quick: bool,
    watch: Watch,
    progress: Progress,
    cancel: CancelToken | None,
) -> ExperimentResult:
    """Fit campaigns of these sizes.

    Parameters
    ----------
    seeds, dimensions
        Of the fits.
    items
        How many items the campaigns have; the sizes of the paper's sets when empty.
    threads
        How many share the work; None for as many as there are cores.
    quick
        Two small campaigns and few iterations, which only show that it works.
    watch, progress, cancel
        Are told before each fit, and during it; stops it.
    """
    from benchmarks.experiments.scale import SIZES, ScaleSettings, run_scale, size_of
    from crowdclust_app.evaluation.simulation import SimulationSettings
    from crowdclust_app.services.fits.resources import cores

    sizes = tuple(size_of(number) for number in items) or SIZES
    if quick and not items:
        sizes = tuple(SimulationSettings(items=number, clusters=3, workers=8) for number in (60, 120))
    count = cores() if threads is None else threads
    meter = _Meter(count, QUICK_ITERATIONS if quick else 100, progress, cancel)
    return run_scale(ScaleSettings(seeds, sizes, dimensions, count), meter.measure, watch)


@dataclass(frozen=True, slots=True)
class _Meter:
    """Fits from one start through all joint iterations, and says what that took."""

    threads: int
    iterations: int
    progress: Progress
    cancel: CancelToken | None

    def measure(self, table: ResponseTable, seed: int, dimensions: int, clusters: int) -> Cost:
        """Fit one table with a number of clusters, as every fit does once that number is chosen."""
        from benchmarks.experiments.scale import Cost
        from crowdclust_app.domain.fit_settings import FitSettings
        from crowdclust_app.services.fits.fitting import fit_table
        from crowdclust_app.services.fits.progress import FitProgress
        from crowdclust_app.services.fits.summary import peak_memory_mb

        joint: list[float] = []
        busy: list[float] = []
        before: list[tuple[FitProgress, float]] = []

        def report(news: ProgressReport) -> None:
            if isinstance(news, FitProgress):
                used = time.process_time()
                # only from one joint iteration to the next: what comes between two phases is none
                if before and before[0][0].phase == news.phase == "joint":
                    joint.append(news.seconds - before[0][0].seconds)
                    busy.append(used - before[0][1])
                before[:] = [(news, used)]
            self.progress(news)

        # no relative change is as small as this, so that every fit goes through all its iterations
        settings = FitSettings(
            dimensions=dimensions,
            n_starts=1,
            seed=seed,
            tolerance=1e-300,
            n_clusters=clusters,
            label_weight=1.0,
            folds=0,
            max_iterations=self.iterations,
        )
        forget_peak_memory()
        result = fit_table(table, settings, report, self.cancel, self.threads)
        return Cost(
            iterations=len(joint),
            joint_seconds=sum(joint),
            joint_cpu_seconds=sum(busy),
            seconds=float(result.summary["seconds"]),
            peak_memory_mb=peak_memory_mb(),
            clusters=int(result.summary["clusters"]),
        )


def forget_peak_memory() -> bool:
    """Have Linux count the most memory of this process from now on; False where that cannot be asked."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True
