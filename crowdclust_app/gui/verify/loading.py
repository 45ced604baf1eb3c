"""What the Verify screen reads before it shows anything; made off the main thread."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crowdclust_app.services.verify.interview import QuestionSetInfo, question_sets

if TYPE_CHECKING:
    from crowdclust_app.services.campaign.campaigns import Campaign


@dataclass(frozen=True)
class Loaded:
    """The question sets, and the items' names and photos by number."""

    sets: tuple[QuestionSetInfo, ...]
    names: dict[int, str]
    files: dict[int, tuple[Path, str | None]]


def load_sets(campaign: Campaign) -> Loaded:
    """Read the question sets and where the photos are."""
    items = campaign.items()
    files: dict[int, tuple[Path, str | None]] = {}
    if campaign.has_images and campaign.images_found:
        files = {item.number: (campaign.item_path(item), item.content_hash) for item in items}
    return Loaded(question_sets(campaign), {item.number: item.path for item in items}, files)
