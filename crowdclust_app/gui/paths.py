"""Paths as people type them."""

from __future__ import annotations

from pathlib import Path


def typed_path(text: str) -> Path | None:
    """What somebody typed as a path, `~` being their home; None when they typed nothing.

    A `~` that is nobody's home is the beginning of a name like any other.
    """
    text = text.strip()
    if not text:
        return None
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)
