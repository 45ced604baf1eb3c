"""Keep the results of fits in the campaign: arrays as an .npz archive without pickle, all the rest as JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.fits.results import FitResult, Run, RunInfo
from crowdclust_app.storage import catalogue, runs
from crowdclust_app.storage.failures import BusyError, FileLostError, NotWritableError
from crowdclust_app.storage.times import from_text, now, to_text


class NotStoredError(UserError):
    """A fit came to its end, but the campaign cannot be written where it is.

    Parameters
    ----------
    result
        The fit, which need not be lost.
    reason
        Why it is not stored.
    """

    def __init__(self, result: FitResult, reason: UserError) -> None:
        super().__init__(reason.what, where=reason.where, todo=reason.todo)
        self.result = result


BEFORE_HELD_OUT = {"worker_prior": "independent", "folds": 0}
"""What runs did that were stored before there was a choice."""


def save_run(
    campaign: Campaign,
    table: ResponseTable,
    settings: FitSettings,
    result: FitResult,
    *,
    versions: Mapping[str, str],
    stage: str,
) -> Run:
    """Store a fit beside the earlier ones.

    Every attribute of the result that is an array goes into the archive, the summary and the others into JSON, so
    that nothing here knows which attributes there are.

    Parameters
    ----------
    table
        What was fitted; its names and fingerprint are kept with the result.
    versions
        Versions of what computed it.

    Returns
    -------
    Run
        As `load_run` gives it.

    Raises
    ------
    NotStoredError
        When the campaign cannot be written; it has the result.
    ValueError
        When an array holds Python objects, or the summary something that JSON has no word for (NaN included).
    """
    values = _columns(table, settings, result, versions) | {"stage": stage}
    try:
        with campaign.database.write() as connection:
            number = runs.insert_run(connection, values)
            catalogue.bump_revision(connection)
    except (NotWritableError, BusyError, FileLostError) as error:
        raise NotStoredError(result, error) from error
    return load_run(campaign, number)


def _columns(
    table: ResponseTable, settings: FitSettings, result: FitResult, versions: Mapping[str, str]
) -> dict[str, Any]:
    """What a run's row holds, but for its number and stage."""
    attributes = {field.name: getattr(result, field.name) for field in fields(result)}
    summary = attributes.pop("summary")
    arrays = {name: value for name, value in attributes.items() if isinstance(value, np.ndarray)}
    scalars = {name: value for name, value in attributes.items() if name not in arrays}
    chosen = settings.as_dict()
    return {
        "method": settings.method,
        "created_at": to_text(now()),
        "settings": _json(chosen),
        "seed": settings.seed,
        "versions": _json(versions),
        "fingerprint": table.fingerprint(),
        "seconds": float(summary.get("seconds") or 0.0),
        "summary": _json(summary),
        "scalars": json.dumps(scalars, default=_plain),
        "names": _json({"items": table.item_names, "workers": table.worker_names}),
        "arrays": pack(arrays),
    }


def load_run(campaign: Campaign, number: int) -> Run:
    """One stored run with its arrays.

    Raises
    ------
    UserError
        When there is no run of this number.
    """
    with campaign.database.read() as connection:
        row = runs.run_row(connection, number)
        known = "" if row else ", ".join(str(other.number) for other in runs.run_rows(connection))
    if row is None:
        todo = f"choose one of {known}" if known else "run the inference first"
        raise UserError(f"the campaign has no run {number}", where=str(campaign.path), todo=todo)
    names = json.loads(row.names)
    # a run of an earlier version may lack a setting, or hold one that is gone
    chosen = BEFORE_HELD_OUT | json.loads(row.settings)
    attributes: dict[str, Any] = {name: _tuples(value) for name, value in json.loads(row.scalars).items()}
    attributes |= unpack(row.arrays) | {"summary": json.loads(row.summary)}
    return Run(
        number=row.number,
        stage=row.stage,
        created_at=from_text(row.created_at),
        settings=FitSettings.from_dict(chosen),
        seed=row.seed,
        versions=json.loads(row.versions),
        fingerprint=row.fingerprint,
        seconds=row.seconds,
        result=FitResult(**attributes),
        item_names=tuple(names["items"]),
        worker_names=tuple(names["workers"]),
    )


def run_list(campaign: Campaign) -> tuple[RunInfo, ...]:
    """Every stored run without its arrays, newest last."""
    with campaign.database.read() as connection:
        rows = runs.run_rows(connection)
    return tuple(
        RunInfo(
            number=row.number,
            stage=row.stage,
            method=row.method,
            created_at=from_text(row.created_at),
            seed=row.seed,
            seconds=row.seconds,
            fingerprint=row.fingerprint,
            settings=json.loads(row.settings),
            summary=json.loads(row.summary),
        )
        for row in rows
    )


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays as the bytes of a compressed .npz archive."""
    for name, array in arrays.items():
        if np.asarray(array).dtype.hasobject:
            raise ValueError(f"the array {name} holds objects, which would need pickle")
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **{f"array:{name}": array for name, array in arrays.items()})
    return buffer.getvalue()


def unpack(stored: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of such an archive."""
    with np.load(io.BytesIO(stored), allow_pickle=False) as archive:
        return {name.removeprefix("array:"): archive[name] for name in archive.files}


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    """A numpy scalar as a number of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be stored as JSON")


def _tuples(value: Any) -> Any:
    """JSON knows no tuples; results know no lists."""
    return tuple(_tuples(part) for part in value) if isinstance(value, list) else value
