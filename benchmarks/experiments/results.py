"""What goes into an experiment (methods, progress, cancelling) and what comes out (rows, plots)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.plots import Bars, BarSeries, Curve, Curves
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation.metrics import adjusted_rand_index, variation_of_information


@dataclass(frozen=True, slots=True)
class MethodResult:
    """What a method made of a table.

    Parameters
    ----------
    labels : ndarray of shape (N,)
        Cluster of each item from 1; 0 for an item that was never shown.
    seconds
        How long it took.
    """

    labels: NDArray[np.int64]
    seconds: float


Solver = Callable[[ResponseTable, str, int, int], MethodResult]
"""A method's answer: table, name of the method, true number of clusters (for those that need it), seed."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Progress of an experiment, and its cancel token.

    Parameters
    ----------
    report
        Is given trials done, trials in all, and what comes next.
    cancel
        Is polled before every trial.
    """

    report: Callable[[int, int, str], None] | None = None
    cancel: CancelToken | None = None

    def check(self) -> None:
        """Raise `Cancelled` when the experiment has been cancelled."""
        if self.cancel:
            self.cancel.check()

    def at(self, done: int, total: int, text: str) -> None:
        """Report progress."""
        self.check()
        if self.report:
            self.report(done, total, text)


VI_TITLE = "variation of information (lower is better)"
"""What a plot of distances from the truth is called."""


@dataclass(frozen=True, slots=True)
class ResultSheet:
    """A table: file name without its ending, header, rows."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """What an experiment found.

    Parameters
    ----------
    trials
        A row for every trial.
    figures
        Means and standard deviations over seeds: what is printed.
    panels
        What is drawn.
    sheets
        More tables, if there are any.
    """

    trials: ResultSheet
    figures: ResultSheet
    panels: tuple[Curves | Bars, ...]
    sheets: tuple[ResultSheet, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """How near an answer is to the truth, over the items shown: nats, and 1 for equal."""

    vi: float
    ari: float
    clusters: int


def score(labels: NDArray[np.int64], truth: Sequence[str]) -> Score:
    """Compare an answer with known categories."""
    shown = labels > 0
    right = np.asarray(truth)[shown]
    return Score(
        vi=variation_of_information(labels[shown], right),
        ari=adjusted_rand_index(labels[shown], right),
        clusters=len(np.unique(labels[shown])),
    )


def mean_and_sd(values: Iterable[float]) -> tuple[float, float]:
    """Mean and sample standard deviation; 0 for a single value."""
    array = np.asarray(list(values), dtype=np.float64)
    return float(array.mean()), float(array.std(ddof=1)) if len(array) > 1 else 0.0


def grouped(rows: Iterable[tuple[Any, ...]], keys: int) -> dict[tuple[Any, ...], list[tuple[Any, ...]]]:
    """Rows by their first cells, in order of first appearance."""
    found: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for row in rows:
        found.setdefault(row[:keys], []).append(row)
    return found


def column(rows: Iterable[tuple[Any, ...]], position: int) -> tuple[float, float]:
    """Mean and standard deviation of one cell of these rows."""
    return mean_and_sd(row[position] for row in rows)


def mean(rows: Iterable[tuple[Any, ...]], position: int) -> float:
    """Mean of one cell of these rows."""
    return column(rows, position)[0]


def curve(name: str, x: Iterable[float], y: Iterable[float], spread: Iterable[float] = (), like: str = "") -> Curve:
    """A curve from cells of rows; a spread of 0 everywhere is none."""
    return Curve(name, np.array(list(x)), np.array(list(y), dtype=np.float64), _spread(spread), like)


def curves(title: str, x_label: str, y_label: str, found: Iterable[Curve], log: bool | Literal["y"] = False) -> Curves:
    """A plot of curves; it begins at 0 unless they all are so far above it that they would be pressed together."""
    found = tuple(found)
    heights = np.concatenate([one.y for one in found])
    heights = heights[np.isfinite(heights)]
    far = len(heights) > 0 and heights.min() > 0.5 * heights.max()
    whole = log is not True and all(one.x.dtype.kind == "i" for one in found)
    return Curves("", title, x_label, y_label, found, from_zero=not log and not far, log=log, whole_x=whole)


def bar_series(name: str, heights: Iterable[float], spread: Iterable[float] = ()) -> BarSeries:
    """Bars from cells of rows; a spread of 0 everywhere is none."""
    return BarSeries(name, np.array(list(heights), dtype=np.float64), _spread(spread))


def _spread(cells: Iterable[float]) -> NDArray[np.float64] | None:
    found = np.array(list(cells), dtype=np.float64)
    return found if found.any() else None
