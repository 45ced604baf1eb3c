"""Running the command line as its callers see it: an exit code and two streams."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from campaign_making import small_disk
from PIL import Image

from crowdclust_app.cli import main

__all__ = ["small_disk"]


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def summary(self) -> dict[str, Any]:
        return json.loads(self.out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Run a command in an empty folder, without a display."""
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def call(*argv: object) -> Ran:
        capsys.readouterr()
        code = main([str(part) for part in argv])
        streams = capsys.readouterr()
        return Ran(code, streams.out, streams.err)

    return call


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
