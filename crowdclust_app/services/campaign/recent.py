"""The campaigns that were open lately: a small list among the person's settings."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.atomic import write_json
from crowdclust_app.services.folders import config_folder

KEPT = 20
_FILE = "recent.json"


@dataclass(frozen=True, slots=True)
class RecentCampaign:
    """A campaign that was open.

    Parameters
    ----------
    path
        Its file; perhaps gone by now.
    opened_at
        When it was opened last.
    """

    path: Path
    opened_at: datetime

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem

    @property
    def exists(self) -> bool:
        """Whether the file is (still) there."""
        try:
            return self.path.is_file()
        except OSError:
            return False


def recent_campaigns() -> tuple[RecentCampaign, ...]:
    """The campaigns that were open lately, newest first; a list that cannot be read counts as empty."""
    try:
        stored = json.loads((config_folder() / _FILE).read_text(encoding="utf-8"))
        return tuple(_entry(value) for value in stored["campaigns"])[:KEPT]
    except (UserError, OSError, ValueError, KeyError, TypeError):
        return ()


def remember(path: Path) -> None:
    """Put a campaign at the head of the list; not being able to is no reason to stop anybody's work."""
    newest = RecentCampaign(path.absolute(), datetime.now(UTC))
    _store((newest, *(other for other in recent_campaigns() if other.path != newest.path)))


def forget(path: Path) -> None:
    """Take a campaign out of the list."""
    _store(tuple(other for other in recent_campaigns() if other.path != path.absolute()))


def _store(campaigns: tuple[RecentCampaign, ...]) -> None:
    rows = [{"path": str(entry.path), "opened_at": entry.opened_at.isoformat()} for entry in campaigns[:KEPT]]
    with contextlib.suppress(UserError, OSError, ValueError):
        write_json(config_folder() / _FILE, {"campaigns": rows})


def _entry(value: Any) -> RecentCampaign:
    opened = datetime.fromisoformat(value["opened_at"])
    return RecentCampaign(Path(value["path"]), opened if opened.tzinfo else opened.replace(tzinfo=UTC))
