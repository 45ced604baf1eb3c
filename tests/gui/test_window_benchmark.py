"""`./run bench gui` shows every screen and says how long it took."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from benchmarks.command import main
from crowdclust_app.gui.registry import SCREENS


@pytest.mark.runs_the_loop_itself
def test_the_quick_bench_times_every_screen(
    qapp: QApplication, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gui", "--quick", "--out", str(tmp_path), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    rail = {entry.name for entry in SCREENS if entry.in_rail}
    for what in ("first time", "again"):
        assert {row["screen"] for row in summary["figures"] if row["what"] == what} == rail - {"start"}
    assert all(row["ready_ms"] >= 0 and row["longest_stall_ms"] >= 0 for row in summary["figures"])
    assert (tmp_path / "gui.csv").read_text(encoding="utf-8").count("\n") == len(summary["figures"]) + 1
