"""Known sets of labels: folders with a `labels.csv` and a `truth.csv`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crowdclust_app.domain.errors import UserError

if TYPE_CHECKING:
    from benchmarks.experiments.labelling import KnownSet
    from crowdclust_app.inference.aggregators import LabelTable


@dataclass(frozen=True, slots=True)
class LabelSet:
    """Labels whose truth is known, at least for some tasks.

    Parameters
    ----------
    name
        Of its folder.
    table
        The labels.
    truth
        Label by task.
    """

    name: str
    table: LabelTable
    truth: Mapping[str, str]

    def as_yes_or_no(self) -> KnownSet | None:
        """Give the set with the second class as yes; None when it has not two classes."""
        import numpy as np

        from benchmarks.experiments.labelling import KnownSet
        from crowdclust_app.evaluation.label_simulation import LabelledTasks, SimulatedLabels
        from crowdclust_app.inference.aggregators.columns import label_key

        table = self.table
        if table.n_classes != 2:
            return None
        code = {label_key(value): number for number, value in enumerate(table.classes)}
        known = [self.truth.get(str(task)) for task in table.tasks]
        truth = np.array([-1 if value is None else code.get(label_key(value), -1) for value in known], dtype=np.int64)
        labels = SimulatedLabels(table.n_tasks, table.n_workers, table.task, table.worker, table.label)
        return KnownSet(self.name, LabelledTasks(labels, truth))


def read_label_sets(folder: Path) -> tuple[tuple[LabelSet, ...], tuple[str, ...]]:
    """Read every set in a folder, in its folders, or in those of its folder `labels`.

    Parameters
    ----------
    folder
        Where to look.

    Returns
    -------
    sets : tuple of LabelSet
        By name.
    warnings : tuple of str
        What was left out.

    Raises
    ------
    UserError
        When there is none, or a table is wrong.
    """
    found, warnings = [], []
    places = [folder, *sorted(folder.glob("*")), *sorted(folder.glob("labels/*"))]
    for path in dict.fromkeys(places):
        if (path / "labels.csv").is_file() and (path / "truth.csv").is_file():
            one = read_label_set(path)
            if one is None:
                warnings.append(f"{path.resolve().name} is left out: its truth.csv knows none of its tasks")
            else:
                found.append(one)
    if not found:
        what = "there is no folder with a labels.csv and a truth.csv"
        raise UserError(what, where=str(folder), todo="name the folder that holds them")
    return tuple(found), tuple(warnings)


def read_label_set(path: Path) -> LabelSet | None:
    """Read the set in a folder; None when its truth knows none of its tasks.

    Raises
    ------
    UserError
        When a table is wrong.
    """
    from crowdclust_app.inference.aggregators import encode_labels
    from crowdclust_app.io.label_tables import read_labels
    from crowdclust_app.io.tables import read_truth

    rows = read_labels(path / "labels.csv")
    try:
        table = encode_labels(rows.task, rows.worker, rows.label)
    except UserError as error:
        raise UserError(error.what, where=str(path / "labels.csv"), todo=error.todo) from error
    if (path / "truth.csv").stat().st_size == 0 or _has_header_only(path / "truth.csv"):
        return None
    truth = read_truth(path / "truth.csv")
    known = {str(task): truth[str(task)] for task in table.tasks if str(task) in truth}
    return LabelSet(path.resolve().name, table, known) if known else None


def _has_header_only(path: Path) -> bool:
    """Whether a table has nothing below its header: a set whose truth nobody knows."""
    with path.open("rb") as file:
        file.readline()
        return not file.read(64).strip()
