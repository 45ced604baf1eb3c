"""Plots (`domain.plots`) as PNG, SVG and PDF, drawn by matplotlib without any window or state."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.palette import OKABE_ITO
from crowdclust_app.domain.plots import Bars, Curves, Matrix, MatrixPlots, Plot, Points
from crowdclust_app.io.atomic import atomic_file
from crowdclust_app.io.csvtext import write_table

if TYPE_CHECKING:
    # matplotlib takes a second to load, and only files are drawn with it
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito 2008: told apart by everybody, whatever colours they see.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = "osD^v<>P"
_DOTS = 160
_COLUMNS = 8  # matrices a row, as in the paper's Figure 3
_MOST_LABELLED = 40  # rows of a matrix that still have their words
_MOST_WRITTEN = 12  # rows of a matrix that still have their figures
_MOST_BOXED = 40  # clusters whose numbers have boxes, which would cover the points of more
_MOST_LARGE_BARS = 8  # more are too narrow for large figures
_LEGEND_COLUMNS = 3  # of a legend above bars
_PANEL_INCHES, _PANEL_DOTS, _PANEL_COLUMNS = (4.6, 3.6), 144, 3
_MISSING = "\u25a1"


def figure_bytes(plot: Plot, kind: str = "png", width: float = 7.0) -> bytes:
    """Draw a plot.

    Parameters
    ----------
    plot
        What it shows.
    kind
        `png`, `svg` or `pdf`; points are pixels in all of them, everything else stays lines and letters.
    width
        In inches.

    Returns
    -------
    bytes
        The file's content; the same plot gives the same bytes.
    """
    # matplotlib takes a second to load, and only files are drawn with it
    import matplotlib as mpl

    figure = draw_figure(plot, width)
    buffer = io.BytesIO()
    # no date and no random ids, so that the same run gives the same file
    metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with mpl.rc_context(
        {"svg.hashsalt": f"crowdclust {plot.name}", "svg.fonttype": "path", "font.family": list(_families())}
    ):
        figure.savefig(buffer, format=kind, dpi=_DOTS, metadata=metadata)
    return buffer.getvalue()


def write_figure(folder: Path, plot: Plot, kinds: tuple[str, ...] = ("png", "svg")) -> tuple[Path, ...]:
    """Write a plot and the numbers behind it.

    Parameters
    ----------
    folder
        Where; it must exist.
    kinds
        As in `figure_bytes`.

    Returns
    -------
    tuple of Path
        The pictures in this order, and the CSV file last.
    """
    paths = []
    for kind in kinds:
        path = folder / f"{plot.name}.{kind}"
        content = figure_bytes(plot, kind)
        with atomic_file(path) as file:
            file.write(content)
        paths.append(path)
    header, rows = plot.table()
    numbers = folder / f"{plot.name}.csv"
    write_table(numbers, header, rows)
    return (*paths, numbers)


def write_panels(path: Path, plots: Sequence[Curves | Bars]) -> None:
    """Draw plots side by side into one PNG file, whole or not at all.

    Parameters
    ----------
    path
        The file; its folder must exist.
    plots
        At least one.
    """
    # matplotlib takes a second to load, and only files are drawn with it
    import matplotlib as mpl
    from matplotlib.figure import Figure

    columns = min(len(plots), _PANEL_COLUMNS)
    lines = -(-len(plots) // columns)
    with mpl.rc_context({"font.family": list(_families())}):
        width, height = _PANEL_INCHES
        figure = Figure(figsize=(width * columns, height * lines), dpi=_PANEL_DOTS, layout="constrained")
        places = list(np.ravel(figure.subplots(lines, columns, squeeze=False)))
        for axes, plot in zip(places, plots, strict=False):
            _draw(figure, axes, plot)
        for axes in places[len(plots) :]:
            axes.set_axis_off()
        with atomic_file(path) as file:
            figure.savefig(file, format="png", metadata={"Software": None})


def draw_figure(plot: Plot, width: float = 7.0, make: Callable[..., Figure] | None = None) -> Figure:
    """Draw a plot as a matplotlib figure that belongs to no window.

    Parameters
    ----------
    width
        In inches.
    make
        What makes the empty figure; matplotlib's own class when None.
    """
    # matplotlib takes a second to load, and only files are drawn with it
    import matplotlib as mpl
    from matplotlib.figure import Figure

    make = make or Figure
    with mpl.rc_context({"font.family": list(_families()), "font.size": 9.0}):
        if isinstance(plot, MatrixPlots):
            lines = max(1, -(-len(plot.captions) // _COLUMNS))
            figure = make(figsize=(width, width / _COLUMNS * 1.04 * lines + 0.7), layout="constrained")
            _draw_grid(figure, plot, lines)
            return figure
        figure = make(figsize=(width, width * 0.72), layout="constrained")
        _draw(figure, figure.subplots(), plot)
    return figure


def _draw(figure: Figure, axes: Axes, plot: Points | Matrix | Curves | Bars) -> None:
    if isinstance(plot, Points):
        _draw_points(figure, axes, plot)
    elif isinstance(plot, Matrix):
        _draw_matrix(figure, axes, plot)
    elif isinstance(plot, Curves):
        _draw_curves(axes, plot)
    else:
        _draw_bars(axes, plot)
    for text in (
        axes.set_title(_drawable(plot.title)),
        axes.set_xlabel(_drawable(plot.x_label)),
        axes.set_ylabel(_drawable(plot.y_label)),
    ):
        text.set_parse_math(False)  # a dollar is a dollar


def _draw_points(figure: Figure, axes: Axes, plot: Points) -> None:
    size = float(np.clip(4000.0 / max(len(plot.names), 1), 1.5, 22.0))
    axes.spines[["top", "right"]].set_visible(False)
    if plot.values is not None:
        drawn = axes.scatter(
            plot.at[:, 0], plot.at[:, 1], c=plot.values, s=size, cmap="viridis", linewidths=0, rasterized=True
        )
        figure.colorbar(drawn, ax=axes, label=_drawable(plot.value_label))
        return
    if (plot.groups == 0).any():
        others = plot.at[plot.groups == 0]
        axes.scatter(others[:, 0], others[:, 1], s=size / 2, c="0.7", linewidths=0, rasterized=True)
    groups = np.unique(plot.groups[plot.groups > 0]).tolist()
    many = len(groups) > _MOST_BOXED
    box = {"boxstyle": "round,pad=0.2", "fc": "white", "ec": "0.4", "alpha": 0.85}
    look: dict[str, Any] = {"fontsize": 5} if many else {"fontweight": "bold", "bbox": box}
    for group in groups:
        members = plot.at[plot.groups == group]
        members = members[np.isfinite(members).all(axis=1)]
        if not len(members):
            continue
        axes.scatter(
            members[:, 0], members[:, 1], s=size, linewidths=0, rasterized=True,
            color=OKABE_ITO[(group - 1) % len(OKABE_ITO)],
            marker=MARKERS[(group - 1) // len(OKABE_ITO) % len(MARKERS)],
            label=_drawable(_short(f"{group} {plot.group_names.get(group, '')}")),
        )  # fmt: skip
        # the number too: colours alone do not tell clusters apart for everybody; above, as a tight cluster would vanish
        top = (float(np.median(members[:, 0])), float(np.quantile(members[:, 1], 0.95)))
        axes.annotate(
            str(group), top, (0, 1 if many else 6), textcoords="offset points", ha="center", va="bottom", **look
        )
    axes.margins(y=0.1)  # room for the number of the uppermost
    if plot.group_names and axes.get_legend_handles_labels()[0]:
        for text in figure.legend(loc="outside right upper", frameon=False, fontsize="small").get_texts():
            text.set_parse_math(False)


def _draw_matrix(figure: Figure, axes: Axes, plot: Matrix) -> None:
    shown = np.ma.masked_invalid(plot.values)
    drawn = axes.imshow(shown, cmap="viridis", vmin=plot.lowest, vmax=plot.highest, aspect="auto")
    figure.colorbar(drawn, ax=axes, label=_drawable(plot.value_label))
    for axis, names, turned in ((axes.xaxis, plot.column_names, True), (axes.yaxis, plot.row_names, False)):
        if len(names) > _MOST_LABELLED:
            continue
        axis.set_ticks(range(len(names)), [_drawable(_short(name)) for name in names])
        for label in axis.get_ticklabels():
            label.set_parse_math(False)
            if turned and max(map(len, names), default=0) > 3:
                label.set(rotation=40, ha="right", rotation_mode="anchor")
    if max(plot.values.shape, default=0) <= _MOST_WRITTEN:
        _write_figures(axes, drawn, plot)


def _write_figures(axes: Axes, drawn: Any, plot: Matrix) -> None:
    whole = bool(np.all(np.nan_to_num(plot.values) == np.round(np.nan_to_num(plot.values))))
    for (row, column), value in np.ndenumerate(plot.values):
        if value == value:
            red, green, blue, _ = drawn.cmap(drawn.norm(value))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            text = f"{value:.0f}" if whole else f"{value:.2f}"
            axes.text(column, row, text, ha="center", va="center", color="white" if dark else "black", fontsize=8)


def _draw_grid(figure: Figure, plot: MatrixPlots, lines: int) -> None:
    figure.suptitle(_drawable(plot.title)).set_parse_math(False)
    places = list(np.ravel(figure.subplots(lines, _COLUMNS, squeeze=False)))
    drawn = None
    for axes, matrix, caption in zip(places, plot.values, plot.captions, strict=False):
        drawn = axes.imshow(matrix, cmap="viridis", vmin=0.0, vmax=1.0)
        axes.set(xticks=[], yticks=[])
        axes.set_xlabel(_drawable(caption), fontsize=7, labelpad=2).set_parse_math(False)
    for axes in places[len(plot.captions) :]:
        axes.set_axis_off()
    if drawn is not None:
        figure.colorbar(drawn, ax=places, label=_drawable(plot.value_label), shrink=0.8 if lines > 1 else 1.0)


def _draw_curves(axes: Axes, plot: Curves) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25)
    numbers = {curve.name: number for number, curve in enumerate(plot.curves)}
    for number, curve in enumerate(plot.curves):
        if curve.like:
            axes.plot(curve.x, curve.y, color=COLOURS[numbers[curve.like] % len(COLOURS)], linestyle=":")
            continue
        style: dict[str, Any] = {
            "color": COLOURS[number % len(COLOURS)],
            "marker": MARKERS[number % len(MARKERS)] if len(curve.x) <= 30 else "",
            "markersize": 4,
            "linestyle": ("-", "--", ":", "-.")[number // len(COLOURS) % 4],
            "label": _drawable(curve.name),
        }
        if curve.spread is not None and len(curve.x):
            axes.errorbar(curve.x, curve.y, yerr=_error_bars(curve.y, curve.spread), capsize=2, **style)
        else:
            axes.plot(curve.x, curve.y, **style)
    if plot.log:
        axes.set(xscale="linear" if plot.log == "y" else "log", yscale="log")
    if plot.whole_x:
        axes.locator_params(axis="x", integer=True)
    for place, word in plot.marks:
        axes.axvline(place, color="0.4", linewidth=1, linestyle="--")
        axes.annotate(_drawable(word), (place, 1.0), xycoords=("data", "axes fraction"), va="top", fontsize=8)
    if plot.from_zero:
        axes.set_ylim(bottom=0)
    if sum(bool(curve.name) for curve in plot.curves) > 1:
        for text in axes.legend(frameon=False, fontsize="small").get_texts():
            text.set_parse_math(False)


def _draw_bars(axes: Axes, plot: Bars) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25)
    wide = 0.8 / max(len(plot.series), 1)
    crowded = len(plot.series) * len(plot.places) > _MOST_LARGE_BARS
    for number, series in enumerate(plot.series):
        at = np.arange(len(plot.places)) + (number - (len(plot.series) - 1) / 2) * wide
        errors = None if series.spread is None else _error_bars(series.heights, series.spread)
        bars = axes.bar(
            at, series.heights, wide, yerr=errors, capsize=2, color=COLOURS[number % len(COLOURS)],
            label=_drawable(series.name),
        )  # fmt: skip
        axes.bar_label(bars, fmt="%.2f", fontsize="xx-small" if crowded else "small", padding=1)
    names = [_drawable(place) for place in plot.places]
    axes.set_xticks(np.arange(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    for label in axes.get_xticklabels():
        label.set_parse_math(False)
    # room for the figure above the highest bar, and for the legend: there is none among the bars
    legend = sum(bool(series.name) for series in plot.series) > 1
    lines = -(-len(plot.series) // _LEGEND_COLUMNS)
    axes.set_ylim(bottom=0, top=axes.get_ylim()[1] * 1.05 * (1.05 + 0.1 * lines if legend else 1.0))
    if legend:
        found = axes.legend(frameon=False, fontsize="small", loc="upper center", ncols=_LEGEND_COLUMNS)
        for text in found.get_texts():
            text.set_parse_math(False)


def _error_bars(heights: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lengths below and above, shape (2, n); what is never less than 0 has no bar below 0."""
    return np.stack([spread if (heights < 0.0).any() else np.minimum(spread, heights), spread])


def _short(text: str, most: int = 24) -> str:
    return text if len(text) <= most else text[: most - 1] + "\u2026"


@cache
def _families() -> tuple[str, ...]:
    """Fonts that are here, the first for what it has and the next for what it lacks."""
    # matplotlib takes a second to load, and only files are drawn with it
    from matplotlib import font_manager

    here = {entry.name for entry in font_manager.fontManager.ttflist}
    return ("DejaVu Sans", *(name for name in ("Noto Sans CJK JP", "Noto Sans") if name in here))


@cache
def _letters() -> frozenset[int]:
    """Every letter that these fonts can draw."""
    # matplotlib takes a second to load, and only files are drawn with it
    from matplotlib import font_manager, ft2font

    letters: set[int] = set()
    for family in _families():
        letters.update(ft2font.FT2Font(font_manager.findfont(family)).get_charmap())
    return frozenset(letters)


def _drawable(text: str) -> str:
    """The text with a box for every letter that no font here has; matplotlib would warn and draw the same box."""
    letters = _letters()
    return "".join(letter if ord(letter) in letters or letter == "\n" else _MISSING for letter in text)
