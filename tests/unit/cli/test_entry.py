"""Exit codes, interrupts, faults, pipes and displays."""

from __future__ import annotations

import os
import pty
import signal
import socket
import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import Any

import pytest

from crowdclust_app import __version__
from crowdclust_app.cli import main, plans
from crowdclust_app.cli.console import Console, plain
from crowdclust_app.cli.display import display_problem
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.services.folders import log_folder

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "crowdclust_app"]


def test_help_and_version(run) -> None:
    done = run("--version")
    assert (done.code, done.out) == (0, f"crowdclust {__version__}\n")
    done = run("--help")
    assert done.code == 0
    for command in ("demo", "new", "plan", "import", "fit", "simulate", "export", "check", "open"):
        assert f"\n    {command} " in done.out
        assert run(command, "--help").code == 0


def test_commands_and_options_that_are_not_built_do_not_appear(run) -> None:
    text = run("--help").out + run("fit", "--help").out + run("open", "--help").out + run("import", "--help").out
    for word in ("merge", "kiosk", "postgresql"):
        assert word not in text


def test_a_fault_of_ours_is_one_line_with_a_log(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the sky\nfell")

    monkeypatch.setattr(plans, "plan_items", fail)
    done = run("plan", "--items", 10)
    assert done.code == 1
    assert done.out == ""
    (log,) = log_folder().iterdir()
    assert done.err == f"crowdclust: a fault of this program (RuntimeError: the sky fell); the log is in {log}.\n"
    text = log.read_text()
    assert "Traceback" in text
    assert "'items': 10" in text
    monkeypatch.setenv("CROWDCLUST_TRACEBACK", "1")
    assert "Traceback" in run("plan", "--items", 10).err


def test_a_fault_without_a_place_for_the_log_is_still_one_line(run, monkeypatch, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no")

    (tmp_path / "file").touch()
    monkeypatch.setenv("CROWDCLUST_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(plans, "plan_items", fail)
    done = run("plan", "--items", 10)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "set CROWDCLUST_TRACEBACK=1" in done.err


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), Cancelled("cancelled")])
def test_an_interrupt_is_130(run, monkeypatch: pytest.MonkeyPatch, interruption: BaseException) -> None:
    def stop(*_: object) -> None:
        raise interruption

    monkeypatch.setattr(plans, "plan_items", stop)
    done = run("plan", "--items", 10)
    assert (done.code, done.out, done.err) == (130, "", "crowdclust: interrupted.\n")


def test_the_handler_of_interrupts_is_put_back(run) -> None:
    before = signal.getsignal(signal.SIGINT)
    run("plan", "--items", 10)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_command_runs_beside_the_main_thread(run) -> None:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(main(["plan", "--items", "10", "--quiet"])))
    thread.start()
    thread.join()
    assert codes == [0]


def test_without_any_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["plan", "--items", "10"]) == 0
    assert main(["plan", "--items", "1"]) == 2
    assert main(["plan", "--items", "x"]) == 2


def test_names_that_a_stream_cannot_say_are_written_by_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="ascii", newline="") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        Console().finish({}, ["café \udcff"])
        Console(as_json=True).finish({"name": "é"}, [])
    assert (tmp_path / "out").read_text() == 'caf\\xe9 \\udcff\n{\n  "name": "\\u00e9"\n}\n'


def test_summaries_are_plain_json() -> None:
    assert plain({"a": (1.0, float("nan")), "b": {"c": float("inf")}}) == {"a": [1.0, None], "b": {"c": None}}


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """Responses that keep a fit busy for a while."""
    assert main(["simulate", "--out", str(tmp_path / "s"), "--items", "400", "--workers", "20", "--quiet"]) == 0
    return tmp_path / "s/responses.csv"


def test_ctrl_c_in_the_middle_of_a_fit_leaves_nothing(big: Path, tmp_path: Path) -> None:
    """The bar is drawn on a terminal; an interrupt then takes it away and ends with 130."""
    try:
        leader, follower = pty.openpty()
    except OSError as error:
        pytest.skip(f"no terminal can be made here: {error}")
    process = subprocess.Popen(
        [*COMMAND, "fit", str(big), "--starts", "200", "--out", str(tmp_path / "fitted")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=follower,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(follower)
    seen = b""
    while b"start 1 of 200" not in seen:
        seen += os.read(leader, 4096)
    process.send_signal(signal.SIGINT)
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:  # the terminal is gone when its last user is
            break
        if not piece:
            break
        seen += piece
    out, _ = process.communicate(timeout=120)
    os.close(leader)
    assert process.returncode == 130
    assert out == b""
    text = seen.decode()
    assert "[..." in text
    assert text.endswith("\r" + "crowdclust: interrupted.\r\n")
    assert "Traceback" not in text
    assert {path.name for path in tmp_path.iterdir()} == {"s"}


def test_without_a_terminal_there_is_no_bar(big: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "fit", str(big), "--starts", "1", "--dimensions", "2", "--json"],
        capture_output=True, check=False, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("{")


def test_a_closed_pipe_is_no_fault() -> None:
    with subprocess.Popen([*COMMAND, "fit", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as warm:
        warm.communicate()
    process = subprocess.Popen([*COMMAND, "plan", "--items", "2000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    assert error == b""


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> list[Path | None]:
    """A window that notes what it was opened on, and a display to open it on."""
    opened: list[Path | None] = []

    def run_window(campaign: Path | None) -> int:
        opened.append(campaign)
        return 0

    fake: Any = types.ModuleType("crowdclust_app.gui.app")
    fake.run_window = run_window
    monkeypatch.setitem(sys.modules, "crowdclust_app.gui.app", fake)
    return opened


def test_no_command_opens_the_window(run, window: list[Path | None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert run().code == 0
    assert window == [None]


def test_open_opens_the_window_on_a_campaign(run, window, images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("new", "study", "--images", images, "--items-per-hit", 4).code == 0
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert run("open", "study.crowdclust").code == 0
    assert [path.name for path in window] == ["study.crowdclust"]


def test_without_a_display_the_window_is_one_sentence(run, window: list[Path | None]) -> None:
    done = run()
    assert done.code == 2
    assert done.err.startswith("crowdclust: there is no display here, so the window cannot be opened;")
    assert window == []


def test_without_qt_the_window_is_one_sentence(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setitem(sys.modules, "crowdclust_app.gui.app", None)
    monkeypatch.delitem(sys.modules, "crowdclust_app.gui.app")
    monkeypatch.setitem(sys.modules, "PySide6", None)
    monkeypatch.setitem(sys.modules, "PySide6.QtCore", None)
    done = run()
    assert done.code == 2
    assert "the window's libraries cannot be loaded" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these always have a display")
def test_a_display_is_asked_whether_it_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert display_problem() == "there is no display here"
    monkeypatch.setenv("DISPLAY", ":98765")
    assert display_problem() == "the display :98765 does not answer"
    monkeypatch.setenv("DISPLAY", "nonsense")
    assert display_problem() == "the display nonsense does not answer"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("WAYLAND_DISPLAY", "w-0")
    assert display_problem() is not None
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # the path of a socket must be short
        monkeypatch.setenv("XDG_RUNTIME_DIR", ".")
        server.bind("w-0")
        server.listen()
        assert display_problem() is None
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.delenv("WAYLAND_DISPLAY")
        monkeypatch.setenv("DISPLAY", f"127.0.0.1:{server.getsockname()[1] - 6000}.0")
        assert display_problem() is None


@pytest.mark.parametrize("when", ["crowdclust_app.cli.entry", "crowdclust_app.cli.parser", "numpy", "dataclasses"])
def test_ctrl_c_while_the_program_is_being_loaded(tmp_path: Path, when: str) -> None:
    """The interrupt comes with the first look for a module, as from an impatient person, or inside an `exec`."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Impatient:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {when!r}:\n"
        "            sys.meta_path.remove(self)\n"
        "            exec('os.kill(os.getpid(), signal.SIGINT)\\nfor _ in range(1000): pass')\n"
        "sys.meta_path.insert(0, Impatient())\n"
    )
    done = subprocess.run(
        [*COMMAND, "plan", "--items", "10"],
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "crowdclust: interrupted.\n")
