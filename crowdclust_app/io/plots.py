"""Plots of figures as PNG files, by matplotlib, without any window or state."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.atomic import atomic_file

# Okabe and Ito 2008: told apart by everybody, whatever colours they see.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = "osD^v<>P"
_INCHES = (4.6, 3.6)
_DOTS = 144
_MOST_COLUMNS = 3
# Of a legend above bars.
_LEGEND_COLUMNS = 3
# More bars than these are too narrow for large figures.
_MOST_LARGE_BARS = 8


class SeriesLike(Protocol):
    """One line or one group of bars; `spread` is half the length of error bars, or empty."""

    @property
    def name(self) -> str:
        """For the legend; none when empty."""
        ...

    @property
    def x(self) -> tuple[Any, ...]:
        """Positions, or names of bars."""
        ...

    @property
    def y(self) -> tuple[float, ...]:
        """Heights."""
        ...

    @property
    def spread(self) -> tuple[float, ...]:
        """Half the lengths of error bars, or nothing."""
        ...

    @property
    def like(self) -> str:
        """The name of the line that this one belongs to, or nothing."""
        ...


class PanelLike(Protocol):
    """One pair of axes."""

    @property
    def title(self) -> str:
        """Above it."""
        ...

    @property
    def x_label(self) -> str:
        """Below it."""
        ...

    @property
    def y_label(self) -> str:
        """Beside it."""
        ...

    @property
    def kind(self) -> str:
        """`lines` or `bars`."""
        ...

    @property
    def series(self) -> Sequence[SeriesLike]:
        """What is drawn."""
        ...

    @property
    def log(self) -> bool | Literal["y"]:
        """Whether both axes are logarithmic, or one alone."""
        ...


def require_matplotlib() -> None:
    """See that plots can be drawn, before the work that they come from is done.

    Raises
    ------
    UserError
        When matplotlib is not installed.
    """
    try:
        # matplotlib takes a second to load, and only files are drawn with it
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise UserError(
            "plots need the package matplotlib, which is not installed", todo="install crowdclust again"
        ) from error


def draw_panels(path: Path, panels: Sequence[PanelLike]) -> None:
    """Draw panels side by side into a PNG file, whole or not at all.

    Parameters
    ----------
    path
        The file; its folder must exist.
    panels
        At least one.
    """
    require_matplotlib()
    # matplotlib takes a second to load, and only files are drawn with it
    from matplotlib.figure import Figure

    columns = min(len(panels), _MOST_COLUMNS)
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(_INCHES[0] * columns, _INCHES[1] * lines), dpi=_DOTS, layout="constrained")
    places = list(np.ravel(figure.subplots(lines, columns, squeeze=False)))
    for axes, panel in zip(places, panels, strict=False):
        _draw(axes, panel)
    for axes in places[len(panels) :]:
        axes.set_axis_off()
    with atomic_file(path) as file:
        figure.savefig(file, format="png")


def _draw(axes: Any, panel: PanelLike) -> None:
    if panel.kind == "bars":
        _draw_bars(axes, panel)
    else:
        _draw_lines(axes, panel)
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25)
    if panel.log:
        axes.set(xscale="linear" if panel.log == "y" else "log", yscale="log")
    elif panel.kind == "bars" or not _far_from_zero(panel):
        axes.set_ylim(bottom=0)
    if panel.kind == "bars" and not panel.log:
        axes.set_ylim(top=axes.get_ylim()[1] * 1.05)  # room for the figure above the highest
    whole = all(isinstance(x, int) for series in panel.series for x in series.x)
    if whole and panel.kind == "lines" and panel.log is not True:
        axes.xaxis.get_major_locator().set_params(integer=True)
    if sum(bool(series.name) for series in panel.series) > 1:
        look: dict[str, Any] = {
            "frameon": False,
            "fontsize": "small" if len(panel.series) <= len(COLOURS) else "x-small",
        }
        if panel.kind == "bars":
            # bars leave no room among them
            axes.set_ylim(top=axes.get_ylim()[1] * (1.05 + 0.1 * -(-len(panel.series) // _LEGEND_COLUMNS)))
            look |= {"loc": "upper center", "ncols": _LEGEND_COLUMNS}
        axes.legend(**look)


def _far_from_zero(panel: PanelLike) -> bool:
    """Whether lines are so far above 0 that a scale from 0 would press them together."""
    found = np.concatenate([np.asarray(series.y, dtype=np.float64) for series in panel.series])
    found = found[np.isfinite(found)]
    return bool(len(found) and found.min() > 0.5 * found.max())


def _error_bars(series: SeriesLike) -> NDArray[np.float64]:
    """Lengths below and above, shape (2, n); what cannot be less than 0 has no bar below 0."""
    spread, heights = np.asarray(series.spread, dtype=np.float64), np.asarray(series.y, dtype=np.float64)
    below = spread if (heights < 0.0).any() else np.minimum(spread, heights)
    return np.stack([below, spread])


def _draw_lines(axes: Any, panel: PanelLike) -> None:
    numbers = {series.name: number for number, series in enumerate(panel.series)}
    for number, series in enumerate(panel.series):
        if series.like:
            colour = COLOURS[numbers[series.like] % len(COLOURS)]
            axes.plot(series.x, series.y, color=colour, linestyle=":")
            continue
        # when the colours have gone round, markers have moved on by one and lines are dashed
        again = number // len(COLOURS)
        marker = MARKERS[(number + again) % len(MARKERS)] if len(series.x) <= 30 else ""
        style = {
            "color": COLOURS[number % len(COLOURS)],
            "marker": marker,
            "markersize": 4,
            "linestyle": "--" if again else "-",
            "label": series.name or None,
        }
        if any(series.spread):
            axes.errorbar(series.x, series.y, yerr=_error_bars(series), capsize=2, **style)
        else:
            axes.plot(series.x, series.y, **style)


def _draw_bars(axes: Any, panel: PanelLike) -> None:
    wide = 0.8 / len(panel.series)
    for number, series in enumerate(panel.series):
        at = np.arange(len(series.x)) + (number - (len(panel.series) - 1) / 2) * wide
        errors = _error_bars(series) if any(series.spread) else None
        colour = COLOURS[number % len(COLOURS)]
        bars = axes.bar(at, series.y, wide, yerr=errors, capsize=2, color=colour, label=series.name)
        crowded = len(panel.series) * len(series.x) > _MOST_LARGE_BARS
        axes.bar_label(bars, fmt="%.2f", fontsize="xx-small" if crowded else "small", padding=1)
        axes.set_xticks(np.arange(len(series.x)), series.x, rotation=40, ha="right", rotation_mode="anchor")
