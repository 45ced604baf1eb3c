"""What the window remembers: one small JSON file in the settings folder, for the program and for each campaign."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from crowdclust_app.services.folders import config_folder

FILE_NAME = "window.json"
# The campaigns touched last keep their state; older ones are forgotten.
CAMPAIGNS_KEPT = 200


class WindowSettings:
    """Remembered state; unreadable or missing files count as nothing remembered.

    Parameters
    ----------
    file
        Where it is kept; by default in the settings folder.
    """

    def __init__(self, file: Path | None = None) -> None:
        if file is None:
            file = config_folder() / FILE_NAME
        self._file = file
        self._program: dict[str, Any] = {}
        self._campaigns: dict[str, dict[str, Any]] = {}
        self.changed = False
        self._read()

    def get(self, key: str, default: Any = None, campaign: Path | None = None) -> Any:
        """What was kept under this key, for the campaign or (None) for the program."""
        return self._group(campaign).get(key, default)

    def set(self, key: str, value: Any, campaign: Path | None = None) -> None:
        """Keep a value that JSON can hold."""
        if campaign is not None:
            name = str(campaign)
            # the one touched last goes to the end, so that the oldest are dropped first
            self._campaigns[name] = self._campaigns.pop(name, {})
        group = self._group(campaign)
        if group.get(key) != value:
            group[key] = value
            self.changed = True

    def text(self) -> str:
        """The file's text as it should be now."""
        kept = dict(list(self._campaigns.items())[-CAMPAIGNS_KEPT:])
        return json.dumps({"program": self._program, "campaigns": kept}, indent=1, ensure_ascii=False)

    def save(self) -> None:
        """Write the file if something changed; it is replaced whole, so that it is never half a file."""
        if not self.changed:
            return
        self.changed = False
        self.write(self.text())

    def write(self, text: str) -> None:
        """Replace the file by this text."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._file.parent, prefix=FILE_NAME, suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            Path(name).replace(self._file)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise

    def _group(self, campaign: Path | None) -> dict[str, Any]:
        if campaign is None:
            return self._program
        return self._campaigns.setdefault(str(campaign), {})

    def _read(self) -> None:
        try:
            kept = json.loads(self._file.read_text(encoding="utf-8"))
            program, campaigns = kept["program"], kept["campaigns"]
        except (OSError, ValueError, KeyError, TypeError):
            return
        if isinstance(program, dict) and isinstance(campaigns, dict):
            self._program = program
            self._campaigns = {name: group for name, group in campaigns.items() if isinstance(group, dict)}
