"""What the benchmarks' tests share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Ran, caller

from benchmarks.command import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Run a command in an empty folder, without a display."""
    return caller(main, capsys, tmp_path, monkeypatch)
