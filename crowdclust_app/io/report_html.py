"""A report as one HTML file that needs nothing else: styles, figures and photos are inside it."""

from __future__ import annotations

import base64
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, FunctionLoader, StrictUndefined

from crowdclust_app.domain.report import Figure, Report
from crowdclust_app.io.figures import figure_bytes

if TYPE_CHECKING:
    from jinja2 import Template

_FOR_PRINT = 6.6  # inches of a figure on a page of A4


def report_html(report: Report, for_print: bool = False) -> str:
    """Write a report as HTML.

    Parameters
    ----------
    report
        What it says.
    for_print
        For who turns it into pages and knows tables and images but no style sheets beyond the simplest; otherwise for
        browsers.

    Returns
    -------
    str
        The whole file. Every name is escaped, and each runs in its own direction.
    """
    return str(
        _template("print.html" if for_print else "page.html").render(
            report=report,
            kind=lambda block: type(block).__name__,
            picture=lambda block: _figure(block, for_print),
            photo=lambda jpeg: _data("image/jpeg", jpeg),
        )
    )


def _figure(block: Figure, for_print: bool) -> str:
    if for_print:
        return _data("image/png", figure_bytes(block.plot, "png", _FOR_PRINT))
    return _data("image/svg+xml", figure_bytes(block.plot, "svg"))


def _data(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


@cache
def _template(name: str) -> Template:
    folder = files("crowdclust_app") / "resources" / "report"

    def load(wanted: str) -> str:
        return (folder / wanted).read_text(encoding="utf-8")

    environment = Environment(
        loader=FunctionLoader(load), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(name)
