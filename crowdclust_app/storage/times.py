"""Times as they are stored: ISO 8601 in UTC with microseconds, so that text order is time order."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def to_text(moment: datetime) -> str:
    """A moment as it is stored; one without a zone is taken as UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def from_text(stored: str) -> datetime:
    """The moment that was stored."""
    return datetime.fromisoformat(stored)
