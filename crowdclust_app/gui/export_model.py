"""The list of tables on the Export screen."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from crowdclust_app.gui.table_rows import Column, TableRows
from crowdclust_app.services.exchange.export_preview import TableToWrite

COLUMNS = (
    Column("File", "", lambda table: table.name),
    Column("What it holds", "", lambda table: table.about),
    Column("Rows", "", lambda table: "" if table.rows is None else f"{table.rows:,}", True),
)


class TablesModel(TableRows[TableToWrite]):
    """The files of an export."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(COLUMNS, parent)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the files."""
        return tuple(table.name for table in self.rows())
