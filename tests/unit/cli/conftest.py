"""Running the command line as its callers see it: an exit code and two streams."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from campaign_making import small_disk
from command_line import Ran, caller
from PIL import Image

from crowdclust_app.cli import main

__all__ = ["small_disk"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Run a command in an empty folder, without a display."""
    return caller(main, capsys, tmp_path, monkeypatch)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Twelve small pictures in two folders."""
    folder = tmp_path / "pictures"
    for number in range(12):
        path = folder / ("warm" if number % 2 else "cold") / f"{number:02d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (20 * number, 0, 250 if number % 2 else 0)).save(path)
    return folder


@pytest.fixture
def responses(tmp_path: Path) -> Path:
    """Twelve items named like the pictures, sorted by six people into warm and cold."""
    lines = ["hit,worker,item,group"]
    for worker in range(6):
        for hit, numbers in enumerate((range(8), range(4, 12))):
            for number in numbers:
                kind = "warm" if number % 2 else "cold"
                lines.append(f"x{hit},w{worker},{kind}/{number:02d}.png,{1 + number % 2}")
    path = tmp_path / "responses.csv"
    path.write_text("\n".join(lines) + "\n")
    return path
