"""Where a campaign's images are, also after the file, the folder or both have moved."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from crowdclust_app.domain.campaign import Item

SAMPLE = 24


def relative_root(campaign: Path, root: Path) -> str | None:
    """The image root as seen from the campaign file's folder, with `/`; None across Windows drives."""
    try:
        return Path(os.path.relpath(root, campaign.parent)).as_posix()
    except ValueError:
        return None


def sample_of(items: Sequence[Item]) -> tuple[Item, ...]:
    """A few items, spread evenly, that tell whether a folder is the right one."""
    if len(items) <= SAMPLE:
        return tuple(items)
    return tuple(items[at * (len(items) - 1) // (SAMPLE - 1)] for at in range(SAMPLE))


def likeness(root: Path, sample: Sequence[Item]) -> int:
    """How many of these items are in the folder with the size that they had."""
    found = 0
    for item in sample:
        try:
            found += (root / item.path).stat().st_size == item.byte_size
        except OSError:
            continue
    return found


def find_root(campaign: Path, relative: str | None, absolute: str, sample: Sequence[Item]) -> Path | None:
    """Find the folder that holds the images now.

    Tried are the stored place relative to the campaign file (both moved together), the stored absolute place (only
    the file moved), and a folder of the same name, or the images themselves, beside the file. The one with the most
    images wins, the earlier one among equals.

    Returns
    -------
    Path or None
        None when not one image is in any of them.
    """
    candidates = [Path(absolute), campaign.parent / Path(absolute).name, campaign.parent]
    if relative is not None:
        candidates.insert(0, Path(os.path.normpath(campaign.parent / relative)))
    scores = [(likeness(candidate, sample), -order) for order, candidate in enumerate(candidates)]
    best = max(range(len(candidates)), key=scores.__getitem__)
    return candidates[best] if scores[best][0] else None
