"""Features of items for those who learn from them: a table, the crowd's own positions, or what photos look like."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.names import Names, path_key, twins_sentence
from crowdclust_app.inference.experts.features import fill_missing
from crowdclust_app.io.atomic import atomic_file
from crowdclust_app.io.descriptors import COLOURS, VERSION, describe_photo
from crowdclust_app.io.feature_tables import read_features
from crowdclust_app.io.images import scan_folder
from crowdclust_app.io.onnx_model import VERSION as ONNX_VERSION
from crowdclust_app.io.onnx_model import EmbeddingModel
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.fits.run_store import load_run
from crowdclust_app.services.folders import cache_folder
from crowdclust_app.services.progress_report import Progress, ProgressReport

MOST_COMPONENTS = 20
"""Directions in which photos differ most that are kept of their descriptors."""

_PHOTOS = "looking at the photos"


@dataclass(frozen=True)
class FeatureTable:
    """Features of items.

    Parameters
    ----------
    names
        Of the items, one a row.
    columns
        Of the features.
    values : ndarray of shape (N, D)
        NaN where one is missing.
    source
        Where they came from, for messages.
    own_scale
        Whether the columns' spreads mean something (positions, photos) and are better left as they are.
    left_out
        Photos that could not be read, with the reason.
    notes
        Sentences about how a file was read.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    source: str
    own_scale: bool = False
    left_out: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Aligned:
    """Features and the labels' tasks together: one row an item, labelled or not.

    Parameters
    ----------
    items
        Labelled tasks in their order, then the other items that have features.
    X : ndarray of shape (N, D)
        Finite.
    own_scale
        As in `FeatureTable`.
    notes
        What had to be filled in.
    """

    items: tuple[Hashable, ...]
    X: NDArray[np.float64]
    own_scale: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PhotoSource:
    """A photo to describe.

    Parameters
    ----------
    name
        Of its item.
    path
        The file.
    content_hash
        SHA-256 of its bytes, hexadecimal; computed when None.
    """

    name: str
    path: Path
    content_hash: str | None = None


@dataclass
class _Described:
    """What has been computed of photos so far."""

    names: list[str] = field(default_factory=list)
    rows: list[NDArray[np.float32]] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)


def features_from_file(path: Path) -> FeatureTable:
    """Read a `features.csv`.

    Raises
    ------
    UserError
        With file and line, when anything in the table is wrong.
    """
    rows = read_features(path)
    notes = tuple(f"{path}: {note}" for note in rows.notes)
    return FeatureTable(rows.names, rows.columns, rows.values, str(path), notes=notes)


def features_from_run(campaign: Campaign, number: int) -> FeatureTable:
    """Take the crowd's own positions of the items, from a stored run.

    Raises
    ------
    UserError
        When there is no such run, or its method gives no positions.
    """
    run = load_run(campaign, number)
    positions = np.asarray(run.result.positions, dtype=np.float64)
    shown = np.flatnonzero(run.result.shown)
    if positions.ndim != 2 or not positions.shape[1] or not len(shown):
        what = f"run {number} has no positions of the photos"
        raise UserError(what, todo="choose a run of crowdclustering")
    columns = tuple(f"x{axis + 1}" for axis in range(positions.shape[1]))
    names = tuple(run.item_names[item] for item in shown)
    return FeatureTable(names, columns, positions[shown], f"run {number}", own_scale=True)


def photos_of(campaign: Campaign) -> tuple[PhotoSource, ...]:
    """The photos of a campaign's items.

    Raises
    ------
    UserError
        When it has none, or they are not where they were.
    """
    return tuple(PhotoSource(item.path, campaign.item_path(item), item.content_hash) for item in campaign.items())


def photos_in(folder: Path) -> tuple[PhotoSource, ...]:
    """The photos below a folder, named by their paths in it.

    Raises
    ------
    UserError
        When the folder cannot be opened or has none.
    """
    found = tuple(PhotoSource(name, folder / name) for name in scan_folder(folder))
    if not found:
        raise UserError("there are no photos in this folder", where=str(folder), todo="name the folder that has them")
    return found


def features_from_photos(
    photos: Sequence[PhotoSource],
    *,
    model: Path | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> FeatureTable:
    """Compute features of photos: colours and edges, or the embedding of a model of the user's own.

    What was computed is kept in the user's cache by the content of the photo. Of all numbers the directions in which
    these photos differ most are given, `MOST_COMPONENTS` at most.

    Parameters
    ----------
    photos
        Which.
    model
        An ONNX file; None takes colours and edges.
    progress, cancel
        As everywhere, photo by photo.

    Raises
    ------
    UserError
        When no photo can be read, or the model is none.
    Cancelled
        When `cancel` says so; what was computed until then stays in the cache.
    """
    describe, kind = _describer(model)
    folder = _folder_of(kind)
    found = _Described()
    for done, photo in enumerate(photos):
        if cancel is not None:
            cancel.check()
        if progress is not None:
            progress(ProgressReport(done, len(photos), _PHOTOS))
        try:
            row = _cached(folder, photo, describe)
        except UserError as error:
            if model is not None and error.where == str(model):
                raise
            found.left_out.append((photo.name, error.what))
            continue
        found.names.append(photo.name)
        found.rows.append(row)
    if not found.rows:
        reason = f": {found.left_out[0][1]}" if found.left_out else ""
        raise UserError(f"not one photo can be read{reason}", todo="check the folder of the photos")
    if len({len(row) for row in found.rows}) > 1:
        what = "is a model that gives photos of different sizes embeddings of different lengths"
        raise UserError(what, where=str(model), todo="choose another model")
    matrix = np.stack(found.rows).astype(np.float64)
    components = _components(matrix if model is not None else _balanced(matrix))
    columns = tuple(f"photo {at + 1}" for at in range(components.shape[1]))
    source = "the photos" if model is None else model.name
    return FeatureTable(tuple(found.names), columns, components, source, own_scale=True, left_out=tuple(found.left_out))


def align_features(table: FeatureTable, tasks: Sequence[Hashable]) -> Aligned:
    """Put features and labelled tasks together.

    A missing value becomes the mean of its column; so do all values of a labelled task without features.

    Parameters
    ----------
    tasks
        Labelled ones.

    Raises
    ------
    UserError
        When not one of them has features.
    """
    number = {name: row for row, name in enumerate(table.names)}
    names = Names(table.names, key=path_key)
    called = [names(str(task)) for task in tasks]
    rows = [number.get(name, -1) for name in called]
    if tasks and max(rows) < 0:
        what = f"not one task with labels is in {table.source}"
        todo = f"name them alike: the labels have {tasks[0]}, the features {table.names[0]}"
        todo += "".join(f" ({sentence.removesuffix('.')})" for sentence in twins_sentence("the tasks", names))
        raise UserError(what, todo=todo)
    labelled = set(called)
    others = [row for row, name in enumerate(table.names) if name not in labelled]
    values = np.full((len(tasks) + len(others), table.values.shape[1]), np.nan)
    has = np.array(rows, dtype=np.int64) >= 0
    values[: len(tasks)][has] = table.values[np.array(rows, dtype=np.int64)[has]]
    values[len(tasks) :] = table.values[others]
    cells = int(np.isnan(table.values).sum())
    X, _ = fill_missing(values)
    notes = [
        *table.notes,
        *twins_sentence("The tasks", names),
        *(f"{name} is left out: {reason}" for name, reason in table.left_out),
    ]
    if cells:
        share = f"{cells} of {table.values.size:,} features are missing"
        notes.append(f"{share} and are taken for the mean of their column")
    without = [task for task, found in zip(tasks, has.tolist(), strict=True) if not found]
    if without:
        shown = ", ".join(map(str, without[:3])) + (", ..." if len(without) > 3 else "")
        who = "1 task has no features and is taken for an average one"
        if len(without) > 1:
            who = f"{len(without)} tasks have no features and are taken for average ones"
        notes.append(f"{who} ({shown})")
    items = (*tasks, *(table.names[row] for row in others))
    return Aligned(items, X, table.own_scale, tuple(notes))


def _describer(model: Path | None) -> tuple[Callable[[Path], NDArray[np.float32]], str]:
    """What describes a photo, and what its results are kept under."""
    if model is None:
        return describe_photo, f"photo-{VERSION}"

    opened = EmbeddingModel(model)
    with model.open("rb") as file:
        return opened.embed, f"onnx-{ONNX_VERSION}-{hashlib.file_digest(file, 'sha256').hexdigest()[:24]}"


def _folder_of(kind: str) -> Path | None:
    """Where results of a kind are kept; None where nothing can be kept, which only costs time."""
    try:
        folder = cache_folder() / "features" / kind
        folder.mkdir(parents=True, exist_ok=True)
    except (UserError, OSError):
        return None
    return folder


def _cached(
    folder: Path | None, photo: PhotoSource, describe: Callable[[Path], NDArray[np.float32]]
) -> NDArray[np.float32]:
    """What was computed of these very bytes before, or now."""
    digest = photo.content_hash or _hash_of(photo.path)
    if folder is None or digest is None:
        return describe(photo.path)
    path = folder / digest[:2] / f"{digest}.npy"
    # a damaged file is only one that is computed again
    with contextlib.suppress(OSError, ValueError, EOFError):
        kept = np.load(path, allow_pickle=False)
        if kept.ndim == 1 and len(kept) and kept.dtype == np.float32 and np.isfinite(kept).all():
            return np.asarray(kept, dtype=np.float32)
    row = describe(photo.path)
    with contextlib.suppress(OSError, UserError):
        path.parent.mkdir(exist_ok=True)
        with atomic_file(path) as file:
            np.save(file, row)
    return row


def _hash_of(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None  # whoever reads the photo says why


def _balanced(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give colours and edges the same weight, whichever varies more; shape (N, D)."""
    parts = []
    for part in (matrix[:, :COLOURS], matrix[:, COLOURS:]):
        centred = part - part.mean(axis=0)
        size = float(np.sqrt((centred**2).sum(axis=1).mean()))
        parts.append(centred / size if size > 0 else centred)
    return np.concatenate(parts, axis=1)


def _components(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coordinates along the directions of largest spread, by size, overall spread 1; shape (N, d)."""
    centred = matrix - matrix.mean(axis=0)
    count = max(1, min(MOST_COMPONENTS, len(matrix) - 1, matrix.shape[1]))
    values, vectors = np.linalg.eigh(centred.T @ centred)
    chosen = vectors[:, ::-1][:, :count]
    # the sign of a principal direction is arbitrary: fix it, so that its largest weight is positive
    strongest = chosen[np.abs(chosen).argmax(axis=0), np.arange(count)]
    found = centred @ (chosen * np.where(strongest < 0, -1.0, 1.0))
    spread = float(np.sqrt(max(values.sum(), 0.0) / max(len(matrix), 1) / count))
    return np.asarray(found / spread) if spread > 0 else np.zeros((len(matrix), count))
