"""What `fit` can be given: a campaign, or a table of responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from crowdclust_app.domain.campaign import FILE_SUFFIX, WHOLE_COLLECTION
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.names import Names, path_key
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.io.tables import KnownNames, read_responses, read_truth

_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table of responses.

    Parameters
    ----------
    table
        The responses.
    warnings
        Sentences about the file, such as its unknown columns.
    """

    table: ResponseTable
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TruthSource:
    """Known categories.

    Parameters
    ----------
    categories
        Category by item.
    warnings
        Sentences about the file, such as its unknown columns.
    """

    categories: Mapping[str, str]
    warnings: tuple[str, ...]


def is_campaign(path: Path) -> bool:
    """Whether a file is, or at least calls itself, a campaign; it need not be a sound one."""
    if path.suffix.lower() == FILE_SUFFIX:
        return True
    try:
        if not path.is_file():  # a pipe would be waited for
            return False
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False  # whoever opens it as a table says what is the matter


def read_table_source(
    path: Path, stage: str = WHOLE_COLLECTION, columns: Mapping[str, str] | None = None
) -> TableSource:
    """Read the responses of one stage from a `responses.csv`.

    Parameters
    ----------
    stage
        Its name; responses of which the table does not say are of the whole collection.
    columns
        What the table calls its columns, where it calls them otherwise.

    Raises
    ------
    UserError
        With file and line, when anything in it is wrong; also when it has responses, but none of this stage.
    """
    records = read_responses(path, columns=columns)
    stages = dict.fromkeys(record.stage or WHOLE_COLLECTION for record in records)
    if stages and stage not in stages:
        what = f"it has no responses of the stage {stage}"
        raise UserError(what, where=str(path), todo=f"choose {' or '.join(sorted(stages))}")
    inside = (record.response for record in records if (record.stage or WHOLE_COLLECTION) == stage)
    table = ResponseTable.from_responses(inside)
    return TableSource(table, table_warnings(path, records.unknown_columns, records.notes))


def read_truth_source(path: Path, table: ResponseTable, copies: Mapping[str, str] | None = None) -> TruthSource:
    """Read known categories that are going to be compared with the items of a table.

    Parameters
    ----------
    copies
        Other names of items, of files with the same bytes.

    Raises
    ------
    UserError
        When anything in the file is wrong, or not one of its items is in a response.
    """
    names = Names(table.item_names, copies, path_key)
    truth = read_truth(path, KnownNames(items=names))
    answered = {table.item_names[item] for item in set(table.items.tolist())}
    if not answered & truth.keys():
        what = f"not one of its items is in the responses{near_miss(names, truth)}"
        raise UserError(what, where=str(path), todo="check that both tables name the items alike")
    return TruthSource(truth, table_warnings(path, truth.unknown_columns, truth.notes))


def near_miss(names: Names, strangers: Iterable[str]) -> str:
    """Half a sentence about the first of some names that is almost one of the known ones; empty without any."""
    for name in strangers:
        alike = names.alike(name)
        if alike is not None:
            return f", but {name} differs only in letter case from {alike}"
    return ""


def table_warnings(path: Path, unknown_columns: tuple[str, ...], notes: tuple[str, ...]) -> tuple[str, ...]:
    """How a table was read, and once which of its columns were ignored."""
    said = tuple(f"{path}: {note}" for note in notes)
    if not unknown_columns:
        return said
    names = ", ".join(unknown_columns)
    columns = f"the column {names} is" if len(unknown_columns) == 1 else f"the columns {names} are"
    return (f"{path}: {columns} unknown and ignored.", *said)
