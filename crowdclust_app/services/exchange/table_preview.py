"""How a table would be understood, before it is imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io import label_tables, tables
from crowdclust_app.io.csv_reader import open_any_sheet
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.exchange.importing import Kind, known_names

SHOWN_ROWS = 50
COLUMNS: Mapping[Kind, tuple[str, ...]] = {
    "responses": ("hit", "worker", "item", "group"),
    "labels": ("task", "worker", "label"),
    "pairs": ("worker", "item_a", "item_b", "label"),
    "truth": ("item", "category"),
}
"""The columns of each kind of table that can be called otherwise."""


@dataclass(frozen=True, slots=True)
class TablePreview:
    """What a table says.

    Parameters
    ----------
    columns
        Names of the columns as they stand there.
    rows
        The first rows, with the columns of `COLUMNS`; none when it cannot be read.
    notes
        Sentences about how it was read.
    problem
        Why it cannot be read; empty when it can.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""


def preview_table(campaign: Campaign, file: Path, kind: Kind, columns: Mapping[str, str]) -> TablePreview:
    """Read a table as `import_table` does, and add nothing.

    Parameters
    ----------
    columns
        What the table calls its columns, where it calls them otherwise.
    """
    header: tuple[str, ...] = ()
    try:
        header = open_any_sheet(file).header
        rows, notes = _read(campaign, file, kind, columns)
    except UserError as error:
        return TablePreview(header, problem=str(error))
    return TablePreview(header, rows, notes)


def _read(
    campaign: Campaign, file: Path, kind: Kind, columns: Mapping[str, str]
) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    known = known_names(campaign)
    rows: Iterable[tuple[str, ...]]
    if kind == "responses":
        responses = tables.read_responses(file, known, columns)
        said = [one.response for one in responses[:SHOWN_ROWS]]
        rows = ((one.hit, one.worker, *pair) for one in said for pair in zip(one.items, one.groups, strict=True))
        notes = responses.notes
    elif kind == "labels":
        labels = label_tables.read_labels(file, known, columns)
        rows = (
            (task, who, label or "") for task, who, label in zip(labels.task, labels.worker, labels.label, strict=True)
        )
        notes = labels.notes
    elif kind == "pairs":
        pairs = tables.read_pairs(file, known, columns)
        rows = ((one.worker, one.item_a, one.item_b, str(one.label)) for one in pairs)
        notes = pairs.notes
    else:
        truth = tables.read_truth(file, known, columns)
        rows, notes = truth.items(), truth.notes
    return tuple(row for row, _ in zip(rows, range(SHOWN_ROWS), strict=False)), notes
