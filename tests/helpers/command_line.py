"""Running a command line as its callers see it: an exit code and two streams."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

Main = Callable[[list[str]], int]


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def summary(self) -> dict[str, Any]:
        return json.loads(self.out)


def caller(
    main: Main, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    """Give a function that runs `main` in an empty folder, without a display."""
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def call(*argv: object) -> Ran:
        capsys.readouterr()
        code = main([str(part) for part in argv])
        streams = capsys.readouterr()
        return Ran(code, streams.out, streams.err)

    return call
