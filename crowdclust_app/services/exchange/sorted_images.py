"""The photos in folders by category, and lists of them that other labelling programs read."""

from __future__ import annotations

import os
import shutil
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.atomic import make_folder
from crowdclust_app.services.progress_report import Progress, ProgressReport

UNSORTED = "not sorted"
LONGEST_NAME = 80
_FORBIDDEN = frozenset('<>:"/\\|?*')
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{kind}{n}" for kind in ("com", "lpt") for n in range(1, 10))})


@dataclass(frozen=True, slots=True)
class SortedPhoto:
    """One photo and where it belongs.

    Parameters
    ----------
    item
        Its name in the campaign: the path relative to the image root, with `/`.
    file
        Where the photo is; None where it cannot be found.
    category
        What the lead calls its cluster, `cluster N` without a name; empty for a photo that was not sorted.
    probability
        Of its cluster; None for a photo that was not sorted.
    """

    item: str
    file: Path | None
    category: str
    probability: float | None


def folder_names(categories: Sequence[str]) -> dict[str, str]:
    """A folder name for every category that every system takes, no two alike where letters' case does not count.

    Parameters
    ----------
    categories
        Without repetition.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for category in categories:
        base = _safe(category)
        name, number = base, 2
        while name.casefold() in taken:
            name, number = f"{base} ({number})", number + 1
        taken.add(name.casefold())
        names[category] = name
    return names


def _safe(category: str) -> str:
    text = unicodedata.normalize("NFC", category)
    kept = "".join("-" if letter in _FORBIDDEN or unicodedata.category(letter)[0] == "C" else letter for letter in text)
    kept = kept.strip(" .")[:LONGEST_NAME].strip(" .") or "category"
    while len(kept.encode("utf-8")) > 3 * LONGEST_NAME:
        kept = kept[:-1]
    return f"{kept}_" if kept.split(".")[0].casefold() in _DEVICES else kept


def write_folders(
    photos: Sequence[SortedPhoto],
    out: Path,
    how: Literal["copy", "link"],
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> tuple[int, tuple[str, ...]]:
    """Put every photo into a folder named after its category.

    Parameters
    ----------
    photos
        All of them; those that cannot be found are passed over.
    out
        Folder that is not there yet or empty.
    how
        `copy`, or `link` for symbolic links to the photos where they are.
    progress, cancel
        Told of and looked at for every photo.

    Returns
    -------
    tuple of int and tuple of str
        How many were written, and the items that could not be found.

    Raises
    ------
    UserError
        When the folder has something in it, or cannot be written; what was written by then is taken away.
    Cancelled
        Likewise taken away.
    """
    refuse_used(out)
    made = not out.exists()
    make_folder(out)
    names = folder_names(list(dict.fromkeys(photo.category or UNSORTED for photo in photos)))
    written, missing = 0, []
    try:
        for number, photo in enumerate(photos):
            if cancel is not None:
                cancel.check()
            if progress is not None and number % 20 == 0:
                progress(ProgressReport(number, len(photos), "Copying photos" if how == "copy" else "Linking photos"))
            if photo.file is None or not photo.file.is_file():
                missing.append(photo.item)
                continue
            folder = out / names[photo.category or UNSORTED]
            folder.mkdir(exist_ok=True)
            _put(photo.file, _free(folder, photo.item), how)
            written += 1
    except BaseException as error:
        _take_away(out, made)
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            raise UserError(
                f"the photos cannot be written ({reason})", where=str(out), todo="choose another place or make room"
            ) from error
        raise
    return written, tuple(missing)


def refuse_used(out: Path) -> None:
    """See that nothing is in a folder yet.

    Raises
    ------
    UserError
        When something is, or it is a file.
    """
    try:
        used = out.exists() and any(out.iterdir())
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(f"cannot be read ({reason})", where=str(out), todo="choose another folder") from error
    if used:
        raise UserError(
            "there is something in this folder already", where=str(out), todo="choose a new or empty folder"
        )


def _put(file: Path, target: Path, how: Literal["copy", "link"]) -> None:
    if how == "link":
        target.symlink_to(file.resolve())
    else:
        shutil.copyfile(file, target)


def _free(folder: Path, item: str) -> Path:
    """The photo's own file name, told apart by its folders where another photo has it."""
    path = PurePosixPath(item)
    target = folder / path.name
    parts = list(path.parts[:-1])
    stem = path.stem
    while os.path.lexists(target) and parts:
        stem = f"{parts.pop()}_{stem}"
        target = folder / f"{stem}{path.suffix}"
    number = 2
    while os.path.lexists(target):
        target, number = folder / f"{stem} ({number}){path.suffix}", number + 1
    return target


def _take_away(out: Path, made: bool) -> None:
    for child in list(out.iterdir()):
        shutil.rmtree(child, ignore_errors=True)
    if made:
        shutil.rmtree(out, ignore_errors=True)


def label_studio_tasks(photos: Sequence[SortedPhoto], root: Path | None, model: str) -> list[dict[str, Any]]:
    """Tasks with the category as a prediction, as Label Studio imports them.

    Parameters
    ----------
    root
        The image root, which the local file storage of Label Studio is to serve; None without images.
    model
        Version of the model that the predictions are said to be from.
    """
    return [
        {
            "data": {"image": _local_file(root, photo.item), "item": photo.item},
            "predictions": [
                {
                    "model_version": model,
                    "score": photo.probability,
                    "result": [
                        {
                            "from_name": "category",
                            "to_name": "image",
                            "type": "choices",
                            "value": {"choices": [photo.category]},
                        }
                    ],
                }
            ]
            if photo.category
            else [],
        }
        for photo in photos
    ]


def _local_file(root: Path | None, item: str) -> str:
    folder = "" if root is None else f"{root.name}/"
    return f"/data/local-files/?d={quote(folder + item)}"


def label_studio_config(photos: Sequence[SortedPhoto]) -> str:
    """The labelling interface that those tasks belong to."""
    categories = dict.fromkeys(photo.category for photo in photos if photo.category)
    choices = "\n".join(f"    <Choice value={quoteattr(category)}/>" for category in categories)
    return (
        '<View>\n  <Image name="image" value="$image"/>\n'
        f'  <Choices name="category" toName="image" choice="single">\n{choices}\n  </Choices>\n</View>\n'
    )


def fiftyone_files(photos: Sequence[SortedPhoto]) -> dict[str, dict[str, Any]]:
    """The two files of FiftyOne's image classification data set, by name.

    `data.json` says where every photo is, so that none has to be copied; `labels.json` what its category is. Keys are
    numbers, because FiftyOne cuts endings off names and two photos may differ in nothing else.

    Parameters
    ----------
    photos
        Those that cannot be found or have no category are left out.
    """
    classes = list(dict.fromkeys(photo.category for photo in photos if photo.category))
    number_of = {category: number for number, category in enumerate(classes)}
    data: dict[str, str] = {}
    labels: dict[str, Mapping[str, Any]] = {}
    for number, photo in enumerate(photos):
        if photo.category and photo.file is not None:
            key = f"item-{number:06d}"
            data[key] = str(photo.file)
            labels[key] = {"label": number_of[photo.category], "confidence": photo.probability}
    return {"data.json": dict(data), "labels.json": {"classes": classes, "labels": labels}}
