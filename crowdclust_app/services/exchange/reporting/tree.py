"""What a report says of stages: the tree of categories, with what became of those that were subdivided."""

from __future__ import annotations

from collections.abc import Iterator

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.report import DataTable, Paragraph, Section
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.stages.stage_tree import CategoryNode, StageNode, look_at_stages

INDENT = "\u2003"  # an em space: it stays in a table cell


def tree_section(campaign: Campaign, run: int, cancel: CancelToken | None = None) -> Section | None:
    """The tree below a run of the whole collection; None where nothing was subdivided."""
    root = look_at_stages(campaign, run, cancel).root
    if not any(category.stage is not None for category in root.categories):
        return None
    header = ("Category", "Path", "Photos", "Mean probability", "HITs done")
    table = DataTable(header, tuple(_rows(root, 0)), (False, False, True, True, True))
    words = "Clusters that were subdivided were sorted once more, among themselves; what was found hangs below them."
    return Section("Stages", (Paragraph(words), table))


def _rows(stage: StageNode, depth: int) -> Iterator[tuple[str, ...]]:
    for category in stage.categories:
        yield _row(category, depth)
        below = category.stage
        if below is None:
            continue
        if below.cannot_be_divided:
            yield (f"{INDENT * (depth + 1)}cannot be divided further", below.info.name, "", "", "")
        elif below.view is None:
            yield (f"{INDENT * (depth + 1)}no run yet", below.info.name, "", "", "")
        else:
            yield from _rows(below, depth + 1)


def _row(category: CategoryNode, depth: int) -> tuple[str, ...]:
    mean = category.mean_probability
    below = category.stage
    return (
        f"{INDENT * depth}{category.title}",
        category.path,
        f"{len(category.items):,}",
        "" if mean is None else f"{mean:.2f}",
        f"{below.info.submitted:,} of {below.info.wanted:,}" if below is not None else "",
    )
