"""What the lead has decided about a campaign: kept in the order in which it was decided, and never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision that stands.

    Parameters
    ----------
    number
        Counts up in the campaign; a later decision has a larger one.
    at
        When, in UTC.
    kind
        What sort of decision, such as `name` or `exclude`.
    run
        The run whose clusters it is about, where it is about those.
    detail
        What was decided, as JSON has it.
    """

    number: int
    at: datetime
    kind: str
    run: int | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
