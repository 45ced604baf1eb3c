"""What a benchmark hands over: tables to print, a summary, and files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.progress_report import Progress, ProgressReport

if TYPE_CHECKING:
    from benchmarks.experiments.results import ExperimentResult, ResultSheet, Watch
    from crowdclust_app.domain.cancellation import CancelToken

DATA_VARIABLE = "CROWDCLUST_DATA"
"""Where real sets are looked for without --data."""


@dataclass(frozen=True, slots=True)
class BenchReport:
    """What came out.

    Parameters
    ----------
    summary
        Every figure, as plain JSON values.
    header, rows
        The table of means to print.
    written
        Files.
    warnings
        What had to be left out.
    more
        Further tables to print: name, header, rows.
    """

    summary: dict[str, Any]
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    written: tuple[Path, ...]
    warnings: tuple[str, ...]
    more: tuple[tuple[str, tuple[str, ...], tuple[tuple[Any, ...], ...]], ...] = ()


def check_seeds(seed: int, seeds: int) -> None:
    """Refuse numbers that no trial can be made of."""
    if seeds < 1:
        raise UserError("the number of seeds must be at least 1", todo="raise it")
    if seed < 0:
        raise UserError("the seed must not be negative", todo="choose 0 or a larger whole number")


def check_names(kind: str, named: Sequence[str], known: Sequence[str]) -> None:
    """Refuse a name that is not known."""
    for name in named:
        if name not in known:
            raise UserError(f"there is no {kind} {name}", todo=f"choose from {', '.join(known)}")


def data_folder(named: Path | None) -> Path | None:
    """The folder of real sets: the one that is named, else the environment's, if it has one."""
    usual = os.environ.get(DATA_VARIABLE)
    return named if named is not None else Path(usual) if usual else None


def watch_over(progress: Progress | None, cancel: CancelToken | None, part: str = "") -> Watch:
    """Tell how far an experiment, or a part of one, is, and stop it where that is wanted."""
    from benchmarks.experiments.results import Watch

    def report(done: int, total: int, text: str) -> None:
        if progress is not None:
            progress(ProgressReport(done, total, f"{part}: {text}" if part else text))

    return Watch(report if progress else None, cancel)


@contextmanager
def place_for(out: Path | None) -> Iterator[None]:
    """The folder that tables and plots will be written to, refused before anything is computed; none when None."""
    from crowdclust_app.io.atomic import folder_for

    if out is None:
        yield
        return
    if find_spec("matplotlib") is None:
        raise UserError("plots need the package matplotlib, which is not installed", todo="install crowdclust again")
    with folder_for(out):
        yield


def report_of(
    name: str,
    quick: bool,
    seeds: Sequence[int],
    methods: Sequence[str],
    warnings: Sequence[str],
    outcome: ExperimentResult,
    written: tuple[Path, ...],
) -> BenchReport:
    """Put together what an experiment found and what was written of it."""
    figures = outcome.figures
    summary = {
        "experiment": name,
        "quick": quick,
        "seeds": list(seeds),
        "methods": list(methods),
        "figures": plain_rows(figures),
        "files": [path.name for path in written],
        "warnings": list(warnings),
    }
    return BenchReport(summary, figures.header, figures.rows, written, tuple(warnings))


def write_outcome(name: str, outcome: ExperimentResult, out: Path) -> tuple[Path, ...]:
    """Write the tables (CSV) and the plot (PNG) of an experiment into a folder that exists."""
    from crowdclust_app.io.figures import write_panels
    from crowdclust_app.io.tables import write_table

    written = []
    for sheet in (outcome.figures, outcome.trials, *outcome.sheets):
        path = out / (f"{name}.csv" if sheet is outcome.figures else f"{name}_{sheet.name}.csv")
        write_table(path, sheet.header, sheet.rows)
        written.append(path)
    write_panels(out / f"{name}.png", outcome.panels)
    return (*written, out / f"{name}.png")


def write_rows(out: Path, name: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Path:
    """Write one table into a folder, which is made if it is not there; returns its path."""
    from crowdclust_app.io.atomic import make_folder
    from crowdclust_app.io.tables import write_table

    make_folder(out)
    path = out / f"{name}.csv"
    write_table(path, header, rows)
    return path


def plain_rows(sheet: ResultSheet) -> list[dict[str, Any]]:
    """Rows as JSON can say them."""
    return [dict(zip(sheet.header, map(_plain, row), strict=True)) for row in sheet.rows]


def _plain(value: Any) -> Any:
    """A cell as JSON can say it."""
    number = value.item() if hasattr(value, "item") else value
    return None if isinstance(number, float) and not math.isfinite(number) else number
