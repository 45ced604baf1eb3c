"""`./run bench gui`: how soon every screen of a large campaign is there, how long it keeps one waiting."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from crowdclust_app.domain.errors import UserError

if TYPE_CHECKING:
    from benchmarks.report import BenchReport
    from crowdclust_app.domain.cancellation import CancelToken
    from crowdclust_app.gui.window import MainWindow
    from crowdclust_app.services.progress_report import Progress

HEADER = ("campaign", "screen", "what", "ready_ms", "longest_stall_ms", "stalls_over_100_ms", "longest_computing_ms")
SIZES = ((1000, 130, True), (40_000, 1000, False))
QUICK = ((60, 12, True),)
WAIT_MS = 120_000
_REST_MS = 400  # until what is drawn a moment later is drawn


def run_gui_bench(
    out: Path | None, quick: bool, seed: int = 0, progress: Progress | None = None, cancel: CancelToken | None = None
) -> BenchReport:
    """Open large campaigns in a window that is on no display, show every screen twice, and time it.

    Parameters
    ----------
    out
        Folder for the table (CSV); nothing is written when None.
    quick
        One small campaign, to show that it works.

    Returns
    -------
    BenchReport
        One row a campaign, screen and turn: milliseconds until its jobs are done, the longest time in which the main
        thread answered nothing, how often that was over 100 ms, and the longest that it computed at a stretch, which
        a busy machine does not change.
    """
    from benchmarks.large_campaigns import make_bench_campaign
    from benchmarks.report import BenchReport, write_rows

    if QApplication.instance() is None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    rows: list[tuple[Any, ...]] = []
    with tempfile.TemporaryDirectory(prefix="crowdclust-bench-") as folder:
        for items, workers, pictures in QUICK if quick else SIZES:
            path = make_bench_campaign(Path(folder), items, workers, pictures, seed, progress, cancel)
            rows += [(f"{items:,} items", *row) for row in _time_screens(path, Path(folder))]
    written: tuple[Path, ...] = ()
    if out is not None:
        written = (write_rows(out, "gui", HEADER, rows),)
    figures = [dict(zip(HEADER, row, strict=True)) for row in rows]
    summary = {"experiment": "gui", "quick": quick, "figures": figures, "files": [path.name for path in written]}
    return BenchReport(summary, HEADER, tuple(rows), written, ())


def _time_screens(campaign: Path, folder: Path) -> list[tuple[Any, ...]]:
    from benchmarks.stalls import StallWatch
    from crowdclust_app.gui.app import make_application
    from crowdclust_app.gui.registry import SCREENS
    from crowdclust_app.gui.settings import WindowSettings
    from crowdclust_app.gui.window import MainWindow

    app = make_application()
    window = MainWindow(WindowSettings(folder / ".window.json"))
    window.list_as_recent = False
    watch, computing = StallWatch(), StallWatch(time.thread_time)
    rows: list[tuple[Any, ...]] = []

    def timed(screen: str, what: str, call: Callable[[], None]) -> None:
        _rest(_REST_MS)
        watch.forget()
        computing.forget()
        began = time.perf_counter()
        call()
        _settle(window)
        ready = time.perf_counter() - began
        _rest(_REST_MS)
        stalls = (round(1000 * watch.longest()), watch.over(0.1), round(1000 * computing.longest()))
        rows.append((screen, what, round(1000 * ready), *stalls))

    try:
        window.resize(1366, 768)
        window.show()
        timed("start", "campaign opened", lambda: window.open_campaign(campaign, show="start"))
        if window.campaign is None:
            raise UserError(window.error_bar.text.text().rstrip("."), where=str(campaign))
        for what in ("first time", "again"):
            for entry in SCREENS:
                if entry.in_rail and entry.name != "start":
                    timed(entry.name, what, lambda name=entry.name: window.show_screen(name))  # type: ignore[misc]
    finally:
        watch.stop()
        computing.stop()
        window.close()
        window.deleteLater()
        QCoreApplication.sendPostedEvents(window, QEvent.Type.DeferredDelete.value)
        app.processEvents()
    return rows


def _rest(milliseconds: int) -> None:
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def _settle(window: MainWindow) -> None:
    """Wait until the screen's jobs are done, twice: the first ones may start others."""
    for _ in range(2):
        _rest(20)
        window.jobs.wait(WAIT_MS)
