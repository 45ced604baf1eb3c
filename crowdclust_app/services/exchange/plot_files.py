"""A plot as files: pictures, and the numbers behind it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from crowdclust_app.domain.plots import Plot
from crowdclust_app.io.atomic import make_folder
from crowdclust_app.io.figures import write_figure

PICTURES = ("png", "svg")


def save_plot(plot: Plot, path: Path) -> tuple[Path, ...]:
    """Write a plot as PNG and SVG, and its numbers as CSV, all of one name.

    Parameters
    ----------
    plot
        What it shows.
    path
        The place and name; an ending that says which of the three is left out.

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    UserError
        When the folder cannot be written.
    """
    stem = path.stem if path.suffix.lower() in (".png", ".svg", ".csv") else path.name
    make_folder(path.parent)
    return write_figure(path.parent, replace(plot, name=stem or plot.name), PICTURES)


def files_of_plot(path: Path) -> tuple[Path, ...]:
    """The files that `save_plot` would write."""
    stem = path.stem if path.suffix.lower() in (".png", ".svg", ".csv") else path.name
    return tuple(path.parent / f"{stem}.{kind}" for kind in (*PICTURES, "csv"))
