"""Paths as people type them."""

from __future__ import annotations

from pathlib import Path


def typed_path(text: str) -> Path | None:
    """The path that was typed, with `~` for the home folder; None when the field is empty.

    A `~` that names no home folder is the beginning of a name like any other.
    """
    text = text.strip()
    if not text:
        return None
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)
