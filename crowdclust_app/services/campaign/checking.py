"""Is a campaign file sound? Its bytes, its rules, what its tables say of each other, its images."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crowdclust_app.domain.campaign import Item
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.services.campaign.image_root import find_root, sample_of
from crowdclust_app.services.fits.run_store import unpack
from crowdclust_app.services.progress_report import Progress, ProgressReport
from crowdclust_app.storage.checks import look
from crowdclust_app.storage.logs import settle
from crowdclust_app.storage.probe import reading


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check found.

    Parameters
    ----------
    ok
        Whether there is no problem.
    problems
        One sentence each.
    """

    ok: bool
    problems: tuple[str, ...]


def check_campaign(path: Path, progress: Progress | None = None, cancel: CancelToken | None = None) -> CheckReport:
    """Check a campaign file; its images are looked for and their sizes compared.

    The file is not changed, but for what a killed program left half done, which is undone.

    Raises
    ------
    UserError
        When this is no campaign file, or one of a newer version.
    """
    real = path.resolve()
    if progress:
        progress(ProgressReport(0, None, "Checking the file"))
    settle(real)
    verdict = look(real)
    found = list(verdict.problems)
    if verdict.readable:
        found += _runs(real)
        found += _images(real, progress, cancel)
    return CheckReport(not found, tuple(found))


def _runs(path: Path) -> list[str]:
    """Runs whose arrays cannot be read."""
    found = []
    with reading(path) as connection:
        for number, arrays in connection.execute("SELECT number, arrays FROM runs ORDER BY number"):
            try:
                unpack(arrays)
            except Exception as error:  # noqa: BLE001 - an archive can be broken in many ways, and each is this problem
                found.append(f"The arrays of run {number} cannot be read ({error}).")
    return found


def _images(path: Path, progress: Progress | None, cancel: CancelToken | None) -> list[str]:
    """Images that are not there or not what they were."""
    with reading(path) as connection:
        relative, absolute = connection.execute(
            "SELECT image_root_relative, image_root_absolute FROM campaign"
        ).fetchone()
        rows = connection.execute("SELECT number, path, content_hash, byte_size FROM items ORDER BY number").fetchall()
    if absolute is None:
        return []
    items = [Item(*row) for row in rows]
    root = find_root(path, relative, absolute, sample_of(items))
    if root is None:
        return [f"The images are not where they were, in {absolute}; open the campaign and choose their folder."]
    missing, changed = [], []
    for done, item in enumerate(items):
        if cancel:
            cancel.check()
        if progress and done % 100 == 0:
            progress(ProgressReport(done, len(items), "Checking the images"))
        file = root / item.path
        try:
            if file.stat().st_size != item.byte_size:
                changed.append(item.path)
        except OSError:
            missing.append(item.path)
    return [*_named(missing, root, "missing"), *_named(changed, root, "not what was imported")]


def _named(paths: list[str], root: Path, what: str) -> list[str]:
    if not paths:
        return []
    subject = "1 image is" if len(paths) == 1 else f"{len(paths):,} images are"
    return [f"{subject} {what} in {root}, such as {paths[0]}."]
