"""Writing a campaign or a fit as tables (docs/files.md), all of them or none.

Tables are made in a hidden folder beside their places and take them when the last one is whole. Files of other names
are not touched. Tables of an earlier export that have no rows any more are removed: what stands together belongs
together.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from crowdclust_app.domain.campaign import WHOLE_COLLECTION, AssignmentStatus, Item
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.partition import pair_labels
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.io.atomic import make_folder, write_json
from crowdclust_app.io.tables import write_table
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import assignment_records, flag_records, submitted_times
from crowdclust_app.services.campaign.exclusions import exclusions
from crowdclust_app.services.campaign.responses import read_responses, read_table
from crowdclust_app.services.clusters.categories import category_columns
from crowdclust_app.services.exchange.result_tables import (
    Fitted,
    Table,
    exclusion_table,
    heldout_of_workers,
    result_tables,
    worker_table,
)
from crowdclust_app.services.fits.results import FitResult, Run
from crowdclust_app.services.fits.run_store import load_run
from crowdclust_app.services.fits.verdicts import without_names
from crowdclust_app.services.progress_report import Progress, ProgressReport
from crowdclust_app.services.stages.leaf_clusters import category_paths, exported_run, leaves_below, older_than_newest
from crowdclust_app.services.stages.stages import stage_list
from crowdclust_app.services.verify.question_tables import QUESTION_TABLES, question_tables
from crowdclust_app.services.verify.verdicts import verified_items
from crowdclust_app.storage import records
from crowdclust_app.storage.files import is_stale

RESPONSE_COLUMNS = ("hit", "worker", "item", "group", "started_at", "submitted_at", "active_seconds", "stage")
ASSIGNMENT_COLUMNS = ("hit", "worker", "status", "submitted_at", "active_seconds")
FLAG_COLUMNS = ("item", "worker", "reason", "hit")
PAIR_COLUMNS = ("worker", "item_a", "item_b", "label", "hit")
TRUTH_COLUMNS = ("item", "category")
PLAN_COLUMNS = ("hit", "position", "item")
SUMMARY = "summary.json"
TABLES = (
    "responses.csv",
    "assignments.csv",
    "flags.csv",
    "pairs.csv",
    "truth.csv",
    "plan.csv",
    "clusters.csv",
    "membership.csv",
    "embedding.csv",
    "workers.csv",
    "exclusions.csv",
    "confusion.csv",
    *QUESTION_TABLES,
)
"""Every file that an export may write, but the summary."""

# How often a long table looks at the cancel token, in rows.
_ROWS_BETWEEN_LOOKS = 10_000


def export_campaign(
    campaign: Campaign,
    out: Path,
    anonymous: bool = False,
    run: int | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> tuple[Path, ...]:
    """Write every table of a campaign that has rows, and a `summary.json` that names them.

    Parameters
    ----------
    campaign
        What to write.
    out
        Folder, made if it is not there.
    anonymous
        Write workers as numbers, the same number in every table.
    run
        Number of the run whose clusters are written, with those of the stages below it. When None, the newest run of
        the whole collection, or the one that the stages below it came from; none when there is no run.
    progress, cancel
        Told and looked at before each table, the latter also inside long ones.

    Returns
    -------
    tuple of Path
        The files, `summary.json` last.

    Raises
    ------
    UserError
        When there is no such run, or the folder cannot be written; it is unchanged then.
    Cancelled
        When asked to stop; the folder is unchanged then.
    """
    number = run if run is not None else exported_run(campaign)
    chosen = load_run(campaign, number) if number is not None else None
    label = worker_labels([worker.name for worker in campaign.workers()], anonymous)
    summary = {
        "campaign": str(campaign.path),
        "anonymous": anonymous,
        "run": number,
        "fit": (without_names if anonymous else dict)(chosen.result.summary) if chosen else None,
        "stages": [stage.name for stage in stage_list(campaign)],
        "warnings": list(older_than_newest(campaign, number)) if number is not None and run is None else [],
    }
    return _write_all(_campaign_tables(campaign, chosen, label, cancel), out, summary, progress, cancel)


def campaign_tables(campaign: Campaign, run: int | None = None) -> Iterator[Table]:
    """Give every table of a campaign, those without rows too; rows are made when they are asked for.

    Parameters
    ----------
    campaign
        Whose tables.
    run
        As in `export_campaign`.

    Raises
    ------
    UserError
        When there is no such run.
    """
    number = run if run is not None else exported_run(campaign)
    return _campaign_tables(campaign, load_run(campaign, number) if number is not None else None, str, None)


def export_result(
    result: FitResult,
    table: ResponseTable,
    out: Path,
    categories: Mapping[str, tuple[str | None, str | None]] | None = None,
    stage: str = WHOLE_COLLECTION,
) -> tuple[Path, ...]:
    """Write the tables of one fit: clusters, membership, embedding, workers, confusion.

    Parameters
    ----------
    result
        The fit.
    table
        What was fitted.
    out
        Folder, made if it is not there.
    categories
        Category and override of items that have any, by name.
    stage
        What was fitted.

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    UserError
        When the folder cannot be written; it is unchanged then.
    """
    fitted = Fitted(result, table.item_names, table.worker_names, stage)
    tables = [
        *result_tables(fitted, table, {}, str, categories=categories),
        worker_table(table, fitted.labels_in(table), {}, str, heldout_of_workers(fitted)),
    ]
    return _write_all(tables, out, None, None, None)


def worker_labels(workers: Sequence[str], anonymous: bool) -> Callable[[str], str]:
    """How workers are written: by name, or by their number in the campaign, counted from 1."""
    if not anonymous:
        return str
    numbers = {name: str(number) for number, name in enumerate(workers, start=1)}
    return lambda name: numbers[name]


def _campaign_tables(
    campaign: Campaign, run: Run | None, label: Callable[[str], str], cancel: CancelToken | None
) -> Iterator[Table]:
    responses = read_responses(campaign, None)
    stage = run.stage if run is not None else WHOLE_COLLECTION
    table = read_table(campaign, stage)
    items = campaign.items()
    measured = {(time.hit, time.worker): time.active_seconds for time in submitted_times(campaign)}
    yield _response_table(campaign, responses, measured, label)
    yield Table("assignments.csv", ASSIGNMENT_COLUMNS, _assignment_rows(campaign, measured, label))
    flags = [(flag.item, label(flag.worker), flag.reason, flag.hit) for flag in flag_records(campaign)]
    yield Table("flags.csv", FLAG_COLUMNS, flags)
    of_stage = responses if len(stage_list(campaign)) == 1 else read_responses(campaign, stage)
    yield Table("pairs.csv", PAIR_COLUMNS, _pair_rows(of_stage, label))
    yield Table("truth.csv", TRUTH_COLUMNS, list(campaign.truth().items()))
    yield Table("plan.csv", PLAN_COLUMNS, _plan_rows(campaign, items))
    labels = np.zeros(table.n_items, dtype=np.int64)
    heldout: dict[str, float] = {}
    if run is not None:
        fitted = Fitted(run.result, run.item_names, run.worker_names, run.stage)
        labels = fitted.labels_in(table)
        heldout = heldout_of_workers(fitted)
        yield from result_tables(
            fitted,
            table,
            category_paths(campaign, run),
            label,
            verified_items(campaign, run, cancel),
            category_columns(campaign, run),
            leaves_below(campaign, run, cancel),
        )
    seconds: dict[str, list[float]] = {}
    for (_, worker), active in measured.items():
        seconds.setdefault(worker, []).append(active)
    left_out = exclusions(campaign)
    whole = read_table(campaign, stage, everything=True) if left_out.decisions else table
    yield worker_table(whole, labels, seconds, label, heldout, left_out)
    yield exclusion_table(left_out, label)
    yield from question_tables(campaign, label, cancel)


def _response_table(
    campaign: Campaign,
    responses: Sequence[Response],
    measured: Mapping[tuple[str, str], float],
    label: Callable[[str], str],
) -> Table:
    """The responses, with the columns `group_name` and `comment` where anybody wrote one."""
    with campaign.database.read() as connection:
        names = {(hit, worker, group): name for hit, worker, group, name in records.group_names(connection)}
        comments = {(hit, worker): comment for hit, worker, comment in records.comments(connection)}
    header = RESPONSE_COLUMNS + ("group_name",) * bool(names) + ("comment",) * bool(comments)

    def words(hit: str, worker: str, group: str) -> tuple[str | None, ...]:
        name, comment = names.get((hit, worker, group)), comments.get((hit, worker))
        return (name,) * bool(names) + (comment,) * bool(comments)

    return Table("responses.csv", header, _response_rows(campaign, responses, measured, label, words))


def _response_rows(
    campaign: Campaign,
    responses: Sequence[Response],
    measured: Mapping[tuple[str, str], float],
    label: Callable[[str], str],
    words: Callable[[str, str, str], tuple[str | None, ...]],
) -> Iterator[tuple[Any, ...]]:
    stages = {hit.name: hit.stage for hit in campaign.hits()}
    turns = {
        (turn.hit, turn.worker): turn
        for turn in assignment_records(campaign)
        if turn.status is AssignmentStatus.SUBMITTED
    }
    for response in responses:
        key = (response.hit, response.worker)
        turn = turns[key]
        # an imported response of unknown beginning has its end for one
        began = turn.started_at if turn.started_at != turn.submitted_at else None
        times = (began, turn.submitted_at, measured.get(key), stages[response.hit])
        worker = label(response.worker)
        for item, group in zip(response.items, response.groups, strict=True):
            yield (response.hit, worker, item, group, *times, *words(*key, group))


def _assignment_rows(
    campaign: Campaign, measured: Mapping[tuple[str, str], float], label: Callable[[str], str]
) -> Iterator[tuple[Any, ...]]:
    for turn in assignment_records(campaign):
        submitted = turn.status is AssignmentStatus.SUBMITTED
        active = measured.get((turn.hit, turn.worker)) if submitted else turn.active_seconds
        yield turn.hit, label(turn.worker), turn.status.value, turn.submitted_at, active


def _plan_rows(campaign: Campaign, items: Sequence[Item]) -> Iterator[tuple[Any, ...]]:
    """The HITs that were planned; imported ones want no workers of their own."""
    for hit in campaign.hits():
        if hit.workers_wanted:
            for position, item in enumerate(hit.items):
                yield hit.name, position, items[item].path


def _pair_rows(responses: Iterable[Response], label: Callable[[str], str]) -> Iterator[tuple[Any, ...]]:
    for response in responses:
        worker, items = label(response.worker), response.items
        for a, b, same in pair_labels(response.groups).tolist():
            yield worker, items[a], items[b], same, response.hit


def _write_all(
    tables: Iterable[Table],
    out: Path,
    summary: Mapping[str, Any] | None,
    progress: Progress | None,
    cancel: CancelToken | None,
) -> tuple[Path, ...]:
    make_folder(out)
    names: list[str] = []
    with hidden_folder(out) as hidden, named_as_if_in(out):
        for done, table in enumerate(tables):
            rows = _watched(table.rows, cancel)
            first = next(rows, None)
            if first is None:
                continue
            if progress is not None:
                progress(ProgressReport(done, None, f"Writing {table.name}"))
            write_table(hidden / table.name, table.header, _with(first, rows))
            names.append(table.name)
        stale: list[str] = []
        if summary is not None:
            stale = [name for name in _earlier_files(out) if name not in names]
            write_json(hidden / SUMMARY, {**summary, "files": [*names, SUMMARY]})
            names.append(SUMMARY)
        if cancel is not None:
            cancel.check()
        _refuse_folders(out, names)
        for name in names:
            (hidden / name).replace(out / name)
        for name in stale:
            (out / name).unlink(missing_ok=True)
    return tuple(out / name for name in names)


def _watched(rows: Iterable[Sequence[Any]], cancel: CancelToken | None) -> Iterator[Sequence[Any]]:
    for number, row in enumerate(rows):
        if cancel is not None and number % _ROWS_BETWEEN_LOOKS == 0:
            cancel.check()
        yield row


def _with(first: Sequence[Any], rows: Iterator[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    yield first
    yield from rows


@contextmanager
def hidden_folder(out: Path) -> Iterator[Path]:
    """A folder inside `out`, on the same disk, that is gone afterwards; those that killed exports left go with it."""
    for other in out.glob(".crowdclust-*.part"):
        with suppress(OSError):
            if is_stale(other):
                shutil.rmtree(other, ignore_errors=True)
    try:
        hidden = Path(tempfile.mkdtemp(prefix=".crowdclust-", suffix=".part", dir=out))
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(
            f"nothing can be written into this folder ({reason})", where=str(out), todo="choose another one"
        ) from error
    try:
        yield hidden
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


@contextmanager
def named_as_if_in(out: Path) -> Iterator[None]:
    """Have errors speak of the folder that the user chose and not of the hidden one."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(
            f"the tables cannot be written ({reason})", where=str(out), todo="choose another place"
        ) from error
    except UserError as error:
        name = Path(error.where or "").name
        raise UserError(error.what, where=str(out / name), todo=error.todo) from error


def _refuse_folders(out: Path, names: Iterable[str]) -> None:
    for name in names:
        if (out / name).is_dir():
            raise UserError("there is a folder of this name", where=str(out / name), todo="choose another place")


def _earlier_files(out: Path) -> list[str]:
    """Names of the tables that an earlier export says it has written here."""
    try:
        summary = json.loads((out / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    files = summary.get("files") if isinstance(summary, dict) and "anonymous" in summary else None
    if not isinstance(files, list):
        return []
    return [name for name in files if isinstance(name, str) and name in TABLES]
