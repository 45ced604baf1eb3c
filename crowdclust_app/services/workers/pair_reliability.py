"""Pairs that several workers judged: the aggregators of single labels, with a pair for a task.

A pair label says "same" (1) or "different" (-1). What the aggregators make of it is, for each pair, how probable it is
that the two belong together, and for each worker how well they judge pairs: sensitivity is about pairs that belong
together, so a worker who sorts coarsely has a high one and a low specificity. Pairs that only one worker judged say
nothing about anybody and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.methods import names_of
from crowdclust_app.domain.names import Names, path_key
from crowdclust_app.domain.partition import DIFFERENT, SAME
from crowdclust_app.io.csv_reader import open_sheet
from crowdclust_app.io.csvtext import write_table
from crowdclust_app.io.label_tables import LABEL_ALIASES, LABEL_COLUMNS, LabelRows
from crowdclust_app.io.tables import PAIR_COLUMNS, KnownNames, PairRecord, read_pairs, read_truth
from crowdclust_app.services.exchange.result_folders import folder_for, write_summary
from crowdclust_app.services.fits.sources import table_warnings
from crowdclust_app.services.progress_report import Progress, ProgressReport
from crowdclust_app.services.verify.aggregating import (
    RELIABILITY_HEADER,
    AggregateReport,
    AggregateSettings,
    aggregate_rows,
    reliability_figures,
)

CLASSES = (str(DIFFERENT), str(SAME))
PAIRS_INFERRED_HEADER = ("item_a", "item_b", "label", "probability", "labels", "method")
_FEWEST_WORKERS = 2


@dataclass(frozen=True)
class PairLabels:
    """`T` pair labels as arrays.

    Parameters
    ----------
    items, workers
        Names by number.
    first, second, worker : ndarray of shape (T,)
        Numbers; `first < second`.
    same : ndarray of shape (T,)
        Whether the worker put the two together.
    """

    items: tuple[str, ...]
    workers: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    worker: NDArray[np.int64]
    same: NDArray[np.bool_]

    @property
    def codes(self) -> NDArray[np.int64]:
        """One number a pair; shape (T,)."""
        return self.first * len(self.items) + self.second

    def names(self, code: int) -> tuple[str, str]:
        """The two items of a pair's number."""
        first, second = divmod(code, len(self.items))
        return self.items[first], self.items[second]

    def judged_by_several(self) -> PairLabels:
        """Only the labels on pairs that at least two workers judged."""
        codes = self.codes
        unique, place = np.unique(codes, return_inverse=True)
        judges = np.unique(place * max(1, len(self.workers)) + self.worker) // max(1, len(self.workers))
        kept = np.bincount(judges, minlength=len(unique))[place] >= _FEWEST_WORKERS
        columns = {name: getattr(self, name)[kept] for name in ("first", "second", "worker", "same")}
        return replace(self, **columns)


def pairs_of_records(records: Iterable[PairRecord]) -> PairLabels:
    """The labels of a `pairs.csv`; `a,b` and `b,a` are the same pair."""
    items: dict[str, int] = {}
    workers: dict[str, int] = {}
    rows = []
    for record in records:
        a, b = (items.setdefault(name, len(items)) for name in (record.item_a, record.item_b))
        worker = workers.setdefault(record.worker, len(workers))
        rows.append((min(a, b), max(a, b), worker, record.label == SAME))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return PairLabels(
        tuple(items), tuple(workers), columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 3].astype(bool)
    )


def refuse_for_pairs(settings: AggregateSettings, features: Path | None) -> None:
    """Refuse what is for single labels alone.

    Raises
    ------
    UserError
        When there are features, or a method that learns from them.
    """
    if features is not None:
        raise UserError("pairs have no features", where=str(features), todo="leave --features out")
    if settings.method in names_of("learner"):
        raise UserError(f"{settings.method} is for single labels, not for pairs", todo="take dawid-skene or another")


def judge_pairs(
    pairs: PairLabels,
    settings: AggregateSettings,
    *,
    categories: Mapping[str, str] | None = None,
    where: str | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> AggregateReport:
    """Aggregate the pairs that several workers judged.

    Parameters
    ----------
    pairs
        The labels; of a worker who judged a pair more than once, `settings.repeats` says what counts.
    settings
        How; its classes are ignored.
    categories
        Known category of items: a pair of the same one belongs together.
    where
        Names the labels in messages.
    progress, cancel
        As everywhere.

    Returns
    -------
    AggregateReport
        Tasks of the fitted aggregators are `pairs.codes`, workers are numbers; the summary has also
        `pairs_of_one_worker`, the number of pairs left out.

    Raises
    ------
    UserError
        When no pair was judged by two workers, or the method cannot be applied.
    """
    shared = pairs.judged_by_several()
    alone = len(np.unique(pairs.codes)) - len(np.unique(shared.codes))
    if not len(shared.same):
        what = "no pair was judged by more than one worker, so nobody's judgement can be weighed"
        raise UserError(what, where=where, todo="let the same sets be sorted by several people")
    codes = shared.codes
    truth = None if categories is None else _known_pairs(shared, categories, where)
    rows = LabelRows(
        codes,  # type: ignore[arg-type]  # arrays are columns too
        shared.worker,  # type: ignore[arg-type]
        [CLASSES[1] if same else CLASSES[0] for same in shared.same.tolist()],
        ordered=False,
        unknown_columns=(),
    )
    report = aggregate_rows(
        rows,
        replace(settings, classes=CLASSES),
        truth=truth,  # type: ignore[arg-type]
        where=where,
        progress=progress,
        cancel=cancel,
    )
    report.summary["pairs_of_one_worker"] = alone
    return report


def _known_pairs(shared: PairLabels, categories: Mapping[str, str], where: str | None) -> dict[int, str]:
    """Whether the pairs whose items both have a known category belong together."""
    named = {int(code): shared.names(int(code)) for code in np.unique(shared.codes)}
    truth = {
        code: str(SAME if categories[a] == categories[b] else DIFFERENT)
        for code, (a, b) in named.items()
        if a in categories and b in categories
    }
    if not truth:
        what = "no pair that several workers judged has two items of known categories"
        raise UserError(what, where=where, todo="check that both tables name the items alike")
    return truth


def holds_pairs(path: Path, columns: Mapping[str, str] | None = None) -> bool:
    """Whether a table is a `pairs.csv` and not a `labels.csv`."""
    try:
        found = open_sheet(path, [PAIR_COLUMNS, LABEL_COLUMNS], (), columns, LABEL_ALIASES).columns
    except UserError:
        return False  # what reads the labels says what is wrong with it
    return "item_a" in found


def aggregate_pair_file(
    path: Path,
    settings: AggregateSettings,
    *,
    truth: Path | None = None,
    out: Path | None = None,
    columns: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> AggregateReport:
    """Aggregate a `pairs.csv` as `aggregate_file` does a `labels.csv`.

    Parameters
    ----------
    truth
        Table with the columns `item,category`.
    out
        Folder for `pairs_inferred.csv`, `reliability.csv` and `summary.json`.
    columns
        What the table of pairs calls its columns, where it calls them otherwise.

    Raises
    ------
    UserError
        When a file or a setting is wrong. Nothing is written then.
    """
    if progress is not None:
        progress(ProgressReport(0, None, "reading the pairs"))
    records = read_pairs(path, columns=columns)
    warnings = list(table_warnings(path, records.unknown_columns, records.notes))
    categories = None
    if truth is not None:
        items = Names({name for pair in records for name in (pair.item_a, pair.item_b)}, key=path_key)
        categories = read_truth(truth, KnownNames(items=items))
        warnings += table_warnings(truth, categories.unknown_columns, categories.notes)
    pairs = pairs_of_records(records)
    with folder_for(out) if out is not None else nullcontext():
        report = judge_pairs(pairs, settings, categories=categories, where=str(path), progress=progress, cancel=cancel)
        report.summary["warnings"] = warnings
        written = write_pair_report(report, pairs, out) if out is not None else ()
    return replace(report, warnings=tuple(warnings), written=written)


def write_pair_report(report: AggregateReport, pairs: PairLabels, folder: Path) -> tuple[Path, ...]:
    """Write `pairs_inferred.csv`, `reliability.csv` and `summary.json` into a folder that exists."""
    inferred, reliability = folder / "pairs_inferred.csv", folder / "reliability.csv"
    write_table(inferred, PAIRS_INFERRED_HEADER, _inferred_rows(report, pairs))
    write_table(reliability, RELIABILITY_HEADER, _reliability_rows(report, pairs))
    return inferred, reliability, write_summary(folder, report.summary)


def _inferred_rows(report: AggregateReport, pairs: PairLabels) -> Iterator[tuple[Any, ...]]:
    """One row a pair and method; the probability is that of the two belonging together."""
    for method in report.fitted:
        together = method.probabilities_[:, 1].tolist()
        for row, code in enumerate(method.tasks_):
            a, b = pairs.names(int(code))  # type: ignore[call-overload]
            yield a, b, method.labels_[row], together[row], int(method.label_counts_[row]), method.name


def _reliability_rows(report: AggregateReport, pairs: PairLabels) -> Iterator[tuple[Any, ...]]:
    for method in report.fitted:
        for row, worker in enumerate(method.workers_):
            name = pairs.workers[int(worker)]  # type: ignore[call-overload]
            yield name, *reliability_figures(method, row)
