"""The demo from the command line, with and without a display."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import pytest

from crowdclust_app.services.demo import demo_campaign as demo_service


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer pictures and one start: what is tried here is the way through, not the figures."""
    monkeypatch.setattr(demo_service, "PICTURES", 24)
    monkeypatch.setattr(demo_service, "ITEMS_PER_HIT", 12)


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Path]]:
    """A window and a photographer that note what they were called with."""
    called: list[tuple[str, Path]] = []

    def run_window(campaign: Path) -> int:
        called.append(("window", campaign))
        return 0

    def write_screenshots(campaign: Path, out: Path) -> tuple[Path, ...]:
        called.append(("screenshots", campaign))
        (out / "clusters.png").write_bytes(b"")
        return (out / "clusters.png",)

    for module, function in (("app", run_window), ("screenshots", write_screenshots)):
        fake = types.ModuleType(f"crowdclust_app.gui.{module}")
        setattr(fake, function.__name__, function)
        monkeypatch.setitem(sys.modules, fake.__name__, fake)
    return called


def test_no_window_writes_tables_and_screenshots(run, window, tmp_path: Path) -> None:
    done = run("demo", "--no-window", "--out", "shown", "--json")
    assert done.code == 0, done.err
    assert done.err == ""
    assert window == [("screenshots", Path(done.summary["campaign"]))]
    assert set(done.summary) >= {"campaign", "added", "skipped", "warnings", "clusters", "vi_nats", "files"}
    assert done.summary["added"] == 24
    assert json.loads((tmp_path / "shown/summary.json").read_text()) == done.summary
    assert {"clusters.csv", "workers.csv", "confusion.csv", "clusters.png"} <= set(done.summary["files"])
    assert all((tmp_path / "shown" / name).exists() for name in done.summary["files"])
    assert run("check", "shown/demo.crowdclust").code == 0


def test_without_a_display_it_says_so_and_does_the_same(run, window, tmp_path: Path) -> None:
    done = run("demo")
    assert done.code == 0
    assert done.err == (
        "crowdclust: there is no display here, "
        "so the demo writes its tables and screenshots to crowdclust-demo instead.\n"
    )
    assert "Label weight  0.2" in done.out
    assert (tmp_path / "crowdclust-demo/clusters.csv").exists()
    assert [what for what, _ in window] == ["screenshots"]


def test_with_a_display_the_window_opens_on_it(run, window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    done = run("demo", "--out", "shown", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert [(what, path.name) for what, path in window] == [("window", "demo.crowdclust")]
    assert not (tmp_path / "shown/clusters.csv").exists()


def test_without_qt_there_are_tables_and_a_note(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class NoLibrary:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "crowdclust_app.gui.screenshots":
                raise ImportError("libEGL.so.1: cannot open shared object file: No such file or directory")

    monkeypatch.delitem(sys.modules, "crowdclust_app.gui.screenshots", raising=False)
    monkeypatch.setattr(sys, "meta_path", [NoLibrary(), *sys.meta_path])
    done = run("demo", "--no-window", "--out", "shown")
    assert done.code == 0
    assert done.err.startswith("crowdclust: there are no screenshots: the window's libraries cannot be loaded (libEGL")
    assert (tmp_path / "shown/clusters.csv").exists()


def test_a_place_that_cannot_be_is_refused(run, window, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run("demo", "--no-window", "--out", "file")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert window == []
