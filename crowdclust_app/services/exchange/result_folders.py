"""Folders of results: made when they are needed, with a `summary.json` of every figure that was printed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowdclust_app.io.atomic import folder_for, write_json

__all__ = ["SUMMARY", "folder_for", "read_summary", "write_summary"]

SUMMARY = "summary.json"


def write_summary(folder: Path, summary: Mapping[str, Any]) -> Path:
    """Write the figures of a command beside its tables."""
    write_json(folder / SUMMARY, summary)
    return folder / SUMMARY


def read_summary(folder: Path) -> dict[str, Any]:
    """Read what `write_summary` wrote."""
    summary: dict[str, Any] = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    return summary
