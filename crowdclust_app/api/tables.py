"""Tables in: responses, labels and known categories, from CSV files or data frames."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdclust_app.domain.campaign import WHOLE_COLLECTION
from crowdclust_app.domain.data_frames import frame_of_columns
from crowdclust_app.domain.response_table import ResponseTable, as_response_table
from crowdclust_app.io import label_tables, tables
from crowdclust_app.services.fits.sources import read_table_source, table_warnings

if TYPE_CHECKING:
    import pandas as pd

Source = str | PathLike[str]


def read_responses(
    source: Source | ResponseTable | Mapping[str, Any] | Any,
    stage: str = WHOLE_COLLECTION,
    columns: Mapping[str, str] | None = None,
) -> ResponseTable:
    """Read responses for `Crowdclustering` and `ConsensusClustering`.

    Parameters
    ----------
    source
        Path of a `responses.csv`, or a data frame (or a dict of columns) with the columns `hit`, `worker`, `item` and
        `group`: one row for each item that a worker put into a group. Only equality of groups within a response counts.
    stage
        Which stage's responses of a file with a column `stage`; `"all"` is the whole collection.
    columns
        What a file calls its columns, such as `{"item": "card", "worker": "user"}`; layouts of other programs are
        recognised without it.

    Returns
    -------
    ResponseTable
        `item_names`, `worker_names` and the responses as arrays.

    Raises
    ------
    UserError
        With file and line, when anything in the table is wrong.

    Warns
    -----
    UserWarning
        Of columns that are unknown and ignored, and of how a file was read.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> responses = cc.read_responses(
    ...     {"hit": ["h", "h", "h"], "worker": ["w"] * 3, "item": ["a", "b", "c"], "group": ["x", "x", "y"]}
    ... )
    >>> responses.n_items, responses.n_responses, responses.n_pair_labels
    (3, 1, 3)
    """
    if not isinstance(source, str | PathLike):
        return as_response_table(source)
    read = read_table_source(Path(source), stage, columns)
    _warn(read.warnings)
    return read.table


def read_labels(path: Source, columns: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Read a `labels.csv` for the aggregators.

    Parameters
    ----------
    path
        A table with the columns `task`, `worker` and `label`, and optionally `order` and `question`.
    columns
        What it calls its columns, as in `read_responses`.

    Returns
    -------
    DataFrame
        Columns `task`, `worker`, `label`, in the order in which labels arrived where the table says it; an empty cell
        is None.

    Raises
    ------
    UserError
        With file and line, when anything in the table is wrong; when pandas is not installed.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> model = cc.DawidSkene().fit(cc.read_labels("labels.csv"))  # doctest: +SKIP
    """
    rows = label_tables.read_labels(Path(path), columns=columns)
    _warn(table_warnings(Path(path), rows.unknown_columns, rows.notes))
    return frame_of_columns({"task": rows.task, "worker": rows.worker, "label": rows.label})


def read_truth(path: Source, columns: Mapping[str, str] | None = None) -> dict[str, str]:
    """Read known categories (`item,category`) or labels (`task,label`), by item or task.

    Parameters
    ----------
    path
        The table.
    columns
        What it calls its columns, as in `read_responses`.

    Raises
    ------
    UserError
        With file and line, when anything in the table is wrong.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> truth = cc.read_truth("truth.csv")  # doctest: +SKIP
    """
    truth = tables.read_truth(Path(path), columns=columns)
    _warn(table_warnings(Path(path), truth.unknown_columns, truth.notes))
    return dict(truth)


def _warn(sentences: tuple[str, ...]) -> None:
    for sentence in sentences:
        warnings.warn(sentence, stacklevel=3)
