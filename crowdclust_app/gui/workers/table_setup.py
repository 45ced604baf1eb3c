"""How the tables of the Workers screen look and behave."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QScrollArea, QTableView


def set_up_table(table: QTableView, model: QAbstractItemModel, name: str, title: str, row: int = 28) -> None:
    """Have a table of rows to choose from, to be sorted by its headings, without lines."""
    table.setObjectName(name)
    table.setAccessibleName(title)
    table.setModel(model)
    table.setSortingEnabled(True)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setStyleSheet("QTableView::item { padding: 0 8px; }")
    table.setTabKeyNavigation(False)
    table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(row)
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    # the arrow is part of the heading's text; the style would draw it over the words
    header.setSortIndicatorShown(False)
    header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)


def bare(area: QScrollArea) -> None:
    """Let a scroll area lie on the window itself, without changing how the widgets in it look."""
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setObjectName(area.objectName() or "bare-area")
    name = area.objectName()
    area.setStyleSheet(
        f"QScrollArea#{name}, QScrollArea#{name} > QWidget > QWidget#inside {{ background: transparent; }}"
    )
    area.viewport().setAutoFillBackground(False)
