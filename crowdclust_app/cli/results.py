"""Folders of results: made before the work, with a summary of what was printed after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from crowdclust_app.cli.console import plain
from crowdclust_app.services.exchange import result_folders
from crowdclust_app.services.exchange.result_folders import folder_for


def results_folder(out: Path | None) -> AbstractContextManager[object]:
    """Have the folder before the fit: one that cannot be written must not cost the fit's time."""
    return folder_for(out) if out else nullcontext()


def write_summary(folder: Path, summary: Mapping[str, Any]) -> Path:
    """Write every figure that is printed beside the tables."""
    return result_folders.write_summary(folder, plain(summary))


def written_lines(paths: Sequence[Path]) -> list[str]:
    """Name the files that were written, after an empty line."""
    return ["", *(f"Wrote {path}" for path in paths)] if paths else []
