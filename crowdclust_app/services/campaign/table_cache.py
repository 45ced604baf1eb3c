"""The response tables of an open campaign that were read already."""

from __future__ import annotations

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.storage import responses as stored_responses
from crowdclust_app.storage.connection import Connection


class TableCache:
    """The tables of a campaign as they were when they were last read.

    Several screens ask for the same table, and reading it is the longest part of showing them. Nothing that a table is
    made of is ever changed or deleted, so what was read holds until something is added.
    """

    def __init__(self) -> None:
        self._kept: tuple[tuple[int, ...], dict[tuple[str, bool], ResponseTable]] = ((), {})

    def at(self, connection: Connection) -> dict[tuple[str, bool], ResponseTable]:
        """Those that still hold, by stage and whether everything is in them; tables may be added."""
        moment = stored_responses.tables_moment(connection)
        if self._kept[0] != moment:
            self._kept = (moment, {})
        return self._kept[1]
