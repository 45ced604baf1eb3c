"""Numbers, durations and moments in words."""

from __future__ import annotations

from datetime import datetime

from crowdclust_app.domain.campaign import WHOLE_COLLECTION

ABSENT = "–"


def people_time(seconds: float | None) -> str:
    """A duration in words: 12 s, 1 min 20 s, 2 h 5 min."""
    if seconds is None:
        return ABSENT
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{whole} s"
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(round(seconds / 60), 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def people_date(when: datetime, now: datetime | None = None) -> str:
    """A moment in words: 14:03 today, 3 Mar 14:03 this year, else 3 Mar 2025."""
    local = when.astimezone()
    now = (now or datetime.now().astimezone()).astimezone()
    time = f"{local:%H:%M}"
    if local.date() == now.date():
        return time
    if local.year == now.year:
        return f"{local.day} {local:%b} {time}"
    return f"{local.day} {local:%b %Y}"


def count_of(number: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 photo, 1,200 photos."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def signed(value: float) -> str:
    """A figure with its sign, and no minus before a zero."""
    return f"{round(value, 2) + 0.0:+.2f}"


def capitalised(text: str) -> str:
    """The text with its first letter as at the beginning of a sentence; the others stay."""
    return text[:1].upper() + text[1:]


def of_stage(stage: str) -> str:
    """Whose run it is: " of all/1", and nothing for the whole collection, which most runs are of."""
    return "" if stage == WHOLE_COLLECTION else f" of {stage}"
