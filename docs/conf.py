"""How Sphinx builds these pages; nothing is fetched from the network."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from draw_packages import draw  # noqa: E402
from public_api import write_reference  # noqa: E402

from crowdclust_app import __version__  # noqa: E402
from crowdclust_app.cli.parser import build_parser  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Crowdclust"
author = "The Crowdclust project"
copyright = author  # noqa: A001
release = version = __version__
language = "en"

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "_generated/options.md", "_templates"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / ".notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 120

autosummary_generate = ["reference.md"]
templates_path = ["_templates"]
default_role = "code"
autodoc_typehints = "none"
autodoc_default_options = {"exclude-members": "fit_encoded, fit_run"}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = f"{project} {release}"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": []}
html_css_files = ["wide.css"]
html_static_path = ["_static"]


def write_pages(app: Sphinx) -> None:
    """Draw the packages, list the public names, and write what `--help` says of every command as a page's part."""
    os.environ["COLUMNS"] = "84"
    commands = next(action for action in build_parser()._actions if action.dest == "command").choices or {}
    parts = [f"## {name}\n\n```text\n{parser.format_help()}```\n" for name, parser in commands.items()]  # type: ignore[attr-defined]
    folder = HERE / "_generated"
    folder.mkdir(exist_ok=True)
    draw(folder / "packages.svg")
    write_reference(HERE / "reference.md")
    (folder / "options.md").write_text("\n".join(parts), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Make the pages that are made from the code."""
    # before autosummary looks for names
    app.connect("builder-inited", write_pages, priority=100)
