"""Work off the main thread: what comes back, when, and what never does."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from user_actions import PATIENCE

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.gui.jobs import Job, Jobs, JobState
from crowdclust_app.services.progress_report import Progress, ProgressReport


@pytest.fixture
def jobs(qtbot: QtBot) -> Iterator[Jobs]:
    made = Jobs()
    yield made
    made.shutdown()


def test_the_result_arrives_on_the_main_thread(jobs: Jobs, qtbot: QtBot) -> None:
    seen: list[tuple[int, threading.Thread]] = []
    where: list[threading.Thread] = []

    def work(_progress: Progress, _token: CancelToken) -> int:
        where.append(threading.current_thread())
        return 41 + 1

    job = jobs.start("inference", work, on_done=lambda result: seen.append((result, threading.current_thread())))
    qtbot.waitUntil(lambda: bool(seen), timeout=PATIENCE)
    assert seen == [(42, threading.main_thread())]
    assert where[0] is not threading.main_thread()
    assert job.state is JobState.DONE
    assert jobs.active == ()


def test_the_database_lane_keeps_the_order(jobs: Jobs, qtbot: QtBot) -> None:
    stored: list[int] = []
    for number in range(50):
        jobs.start("database", lambda _p, _t, number=number: stored.append(number))
    assert jobs.wait(PATIENCE)
    assert stored == list(range(50))


def test_two_pictures_are_decoded_at_once_and_one_fit(jobs: Jobs, qtbot: QtBot) -> None:
    together = threading.Barrier(2, timeout=PATIENCE / 1000)
    met: list[int] = []

    def decode(_progress: Progress, _token: CancelToken) -> None:
        together.wait()
        met.append(1)

    jobs.start("decode", decode)
    jobs.start("decode", decode)
    assert jobs.wait(PATIENCE)
    assert met == [1, 1]

    running, most = [0], [0]

    def fit(_progress: Progress, _token: CancelToken) -> None:
        running[0] += 1
        most[0] = max(most[0], running[0])
        threading.Event().wait(0.02)
        running[0] -= 1

    for _ in range(3):
        jobs.start("inference", fit)
    assert jobs.wait(PATIENCE)
    assert most == [1]


def test_quick_work_does_not_wait_for_a_fit_and_what_waits_says_for_what(jobs: Jobs, qtbot: QtBot) -> None:
    go, done = threading.Event(), []
    fit = jobs.start("inference", lambda _p, _t: go.wait(PATIENCE / 1000), title="Running the inference")
    second = jobs.start("inference", lambda _p, _t: None, title="Making the demo")
    third = jobs.start("inference", lambda _p, _t: None, title="Running again")
    jobs.start("quick", lambda _p, _t: None, title="Counting", on_done=lambda _none: done.append(True))
    qtbot.waitUntil(lambda: bool(done), timeout=PATIENCE)
    assert fit.state is JobState.RUNNING
    assert (fit.waiting, fit.sentence) == ("", "Running the inference …")
    assert second.waiting == third.waiting == "waiting for “Running the inference” to end"
    assert third.sentence == "Running again: waiting for “Running the inference” to end"
    go.set()
    assert jobs.wait(PATIENCE)
    assert (third.waiting, third.state) == ("", JobState.DONE)


def test_a_cancelled_jobs_stale_result_never_lands(jobs: Jobs, qtbot: QtBot) -> None:
    finished, landed, cancelled = threading.Event(), [], []

    def work(progress: Progress, _token: CancelToken) -> str:
        progress(ProgressReport(1, 2, "half"))
        finished.set()
        return "stale"

    job = jobs.start(
        "inference",
        work,
        on_done=landed.append,
        on_progress=landed.append,
        on_failed=landed.append,
        on_cancelled=lambda: cancelled.append(True),
    )
    assert finished.wait(PATIENCE / 1000)
    # the result is on its way to the main thread, which has not looked yet
    job.cancel()
    qtbot.waitUntil(lambda: bool(cancelled), timeout=PATIENCE)
    # what is called, is called in its order: what comes of a later job comes after all of this one
    jobs.start("inference", lambda _p, _t: None, on_done=lambda _none: cancelled.append(False))
    assert jobs.wait(PATIENCE)
    assert cancelled == [True, False]
    assert landed == []
    assert job.state is JobState.CANCELLED


def test_only_the_newest_of_jobs_in_each_others_place_lands(jobs: Jobs, qtbot: QtBot) -> None:
    landed: list[int] = []
    job: Job | None = None
    for number in range(3):
        job = jobs.start("database", lambda _p, _t, n=number: n, on_done=landed.append, instead_of=job)
    assert jobs.wait(PATIENCE)
    assert landed == [2]


def test_a_job_that_has_not_begun_is_cancelled_without_running(jobs: Jobs, qtbot: QtBot) -> None:
    go, ran, cancelled = threading.Event(), [], []
    jobs.start("database", lambda _p, _t: go.wait(PATIENCE / 1000))
    waiting = jobs.start(
        "database", lambda _p, _t: ran.append(True), on_cancelled=lambda: cancelled.append(True), title="Waiting"
    )
    waiting.cancel()
    qtbot.waitUntil(lambda: bool(cancelled), timeout=PATIENCE)
    go.set()
    assert jobs.wait(PATIENCE)
    assert ran == []


def test_work_that_looks_at_its_token_stops(jobs: Jobs, qtbot: QtBot) -> None:
    cancelled, began = [], threading.Event()

    def work(_progress: Progress, token: CancelToken) -> None:
        began.set()
        while True:
            token.check()

    job = jobs.start("inference", work, on_cancelled=lambda: cancelled.append(True))
    assert began.wait(PATIENCE / 1000)
    job.cancel()
    qtbot.waitUntil(lambda: bool(cancelled), timeout=PATIENCE)
    assert jobs.active == ()


def test_progress_comes_at_most_ten_times_a_second_and_the_latest_wins(jobs: Jobs, qtbot: QtBot) -> None:
    seen: list[tuple[int, float]] = []
    enough = threading.Event()

    def work(progress: Progress, _token: CancelToken) -> None:
        for step in count():
            progress(ProgressReport(step, None, "working"))
            if enough.wait(0.0005):
                return

    def saw(report: ProgressReport) -> None:
        seen.append((report.done, time.monotonic()))
        if len(seen) == 5:
            enough.set()

    jobs.start("inference", work, on_progress=saw)
    assert jobs.wait(PATIENCE)
    steps, times = zip(*seen[:5], strict=True)
    assert list(steps) == sorted(set(steps))
    # four intervals of a tenth of a second, of which a late first report shortens one
    assert times[-1] - times[0] > 0.25


def test_progress_of_a_tick_is_the_newest_report(jobs: Jobs, qtbot: QtBot) -> None:
    reported, go, seen = threading.Event(), threading.Event(), []

    def work(progress: Progress, _token: CancelToken) -> None:
        for step in range(500):
            progress(ProgressReport(step, 500, ""))
        reported.set()
        go.wait(PATIENCE / 1000)

    jobs.start("inference", work, on_progress=lambda report: seen.append(report.done))
    assert reported.wait(PATIENCE / 1000)
    qtbot.waitUntil(lambda: bool(seen), timeout=PATIENCE)
    go.set()
    assert jobs.wait(PATIENCE)
    assert seen == [499]


def test_a_failure_goes_to_whoever_asked_else_to_the_window(jobs: Jobs, qtbot: QtBot) -> None:
    def work(_progress: Progress, _token: CancelToken) -> None:
        raise ValueError("no good")

    mine: list[BaseException] = []
    windows: list[tuple[Job, BaseException, str]] = []
    jobs.failed.connect(lambda job, error, details: windows.append((job, error, details)))
    jobs.start("inference", work, on_failed=mine.append)
    assert jobs.wait(PATIENCE)
    assert [str(error) for error in mine] == ["no good"]
    assert windows == []

    lonely = jobs.start("inference", work)
    assert jobs.wait(PATIENCE)
    (job, error, details) = windows[0]
    assert job is lonely
    assert str(error) == "no good"
    assert "Traceback" in details
    assert "no good" in details


class Listener(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Any] = []

    def hear(self, result: Any) -> None:
        self.heard.append(result)


def test_a_deleted_owner_hears_nothing(jobs: Jobs, qtbot: QtBot) -> None:
    import shiboken6

    gone, there = Listener(), Listener()
    heard = gone.heard
    go = threading.Event()
    jobs.start("database", lambda _p, _t: go.wait(PATIENCE / 1000), on_done=gone.hear)
    jobs.start("database", lambda _p, _t: 1, on_done=lambda _result: gone.hear("closure"), owner=gone)
    jobs.start("database", lambda _p, _t: 2, on_done=there.hear)
    shiboken6.delete(gone)
    go.set()
    assert jobs.wait(PATIENCE)
    assert heard == []
    assert there.heard == [2]


def test_one_callbacks_fault_does_not_lose_the_others(jobs: Jobs, qtbot: QtBot) -> None:
    heard: list[int] = []

    def faulty(_result: object) -> None:
        raise RuntimeError("in a callback")

    with qtbot.captureExceptions() as caught:
        go = threading.Event()
        jobs.start("database", lambda _p, _t: go.wait(PATIENCE / 1000), on_done=faulty)
        jobs.start("database", lambda _p, _t: 7, on_done=heard.append)
        go.set()
        assert jobs.wait(PATIENCE)
    assert heard == [7]
    assert [str(error) for _, error, _ in caught] == ["in a callback"]


def test_closing_waits_for_what_is_being_stored_and_cancels_the_rest(qtbot: QtBot) -> None:
    jobs = Jobs()
    stored: list[Any] = []
    fitted: list[Any] = []
    go = threading.Event()
    jobs.start("database", lambda _p, _t: go.wait(PATIENCE / 1000), essential=True)
    for number in range(5):
        jobs.start("database", lambda _p, _t, number=number: stored.append(number), essential=True)
    jobs.start("database", lambda _p, _t: fitted.append(True))

    def fit(_progress: Progress, token: CancelToken) -> None:
        while not token.cancelled:
            threading.Event().wait(0.001)
        fitted.append("stopped")

    jobs.start("inference", fit)
    go.set()
    jobs.shutdown()
    assert stored == [0, 1, 2, 3, 4]
    assert fitted == ["stopped"]
    # a screen's timer may still ask for something; storing, however, must not be lost without a word
    late = jobs.start("decode", lambda _p, _t: fitted.append("late"), on_cancelled=lambda: fitted.append("called"))
    assert late.state is JobState.CANCELLED
    with pytest.raises(RuntimeError, match="closed"):
        jobs.start("database", lambda _p, _t: None, essential=True)
    QApplication.processEvents()
    assert fitted == ["stopped"]
