"""Who is sorting: pick a name or write a new one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from crowdclust_app.domain.campaign import Worker
from crowdclust_app.gui.chrome import plain_button

WIDTH = 440


class WorkerPage(QWidget):
    """The first thing an annotator sees.

    Parameters
    ----------
    heading, verb
        What is asked, and what is done ("sorting").
    prefix
        Before the names of the widgets, where a window has two such pages.

    Signals
    -------
    picked : Worker
        A worker of this campaign.
    added : str
        A new name.
    """

    picked = Signal(object)
    added = Signal(str)

    def __init__(self, heading: str = "Who is sorting?", verb: str = "sorting", prefix: str = "") -> None:
        super().__init__()
        self.setObjectName(f"{prefix}worker-page")
        self._prefix, self._verb = prefix, verb
        self._workers: tuple[Worker, ...] = ()
        self._shown: list[Worker] = []
        title = QLabel(heading)
        title.setProperty("heading", "page")
        self.about = QLabel()
        self.about.setProperty("rank", "second")
        self.about.setWordWrap(True)
        self.field = QLineEdit()
        self.field.setObjectName(f"{prefix}worker-name")
        self.field.setAccessibleName("Your name")
        self.field.setPlaceholderText("Your name")
        self.field.setMaxLength(80)
        self.field.setProperty("tall", True)
        self.start = plain_button(f"Start {verb}", f"{prefix}worker-start", self._go, rank="first")
        self.start.setProperty("tall", True)
        self.start.setEnabled(False)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.field, 1)
        line.addWidget(self.start)
        self._names = QWidget()
        self._names.setObjectName(f"{prefix}worker-names")
        self._names_layout = QVBoxLayout(self._names)
        self._names_layout.setContentsMargins(0, 0, 0, 0)
        self._names_layout.setSpacing(4)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(self._names)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._known = QLabel("Or go on as")
        self._known.setProperty("rank", "second")
        column = QWidget()
        column.setFixedWidth(WIDTH)
        layout = QVBoxLayout(column)
        layout.setContentsMargins(0, 64, 0, 16)
        layout.setSpacing(16)
        layout.addWidget(title)
        layout.addWidget(self.about)
        layout.addLayout(line)
        layout.addWidget(self._known)
        layout.addWidget(area, 1)
        whole = QHBoxLayout(self)
        whole.addStretch(1)
        whole.addWidget(column)
        whole.addStretch(1)
        self.setFocusProxy(self.field)
        self.field.textChanged.connect(self._filter)
        self.field.returnPressed.connect(self._go)

    def show_workers(self, workers: Sequence[Worker], about: str) -> None:
        """List who is known, the newest first."""
        self.about.setText(about)
        if tuple(workers) != self._workers:
            self._workers = tuple(workers)
            self._filter(self.field.text())
        self._known.setVisible(bool(workers))

    def _filter(self, text: str) -> None:
        wanted = text.strip().casefold()
        self._shown = [worker for worker in reversed(self._workers) if wanted in worker.name.casefold()]
        exact = self._exact(wanted)
        self.start.setEnabled(bool(wanted))
        self.start.setText(f"Go on {self._verb}" if exact is not None else f"Start {self._verb}")
        while (item := self._names_layout.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for worker in self._shown[:60]:
            button = plain_button(
                worker.name, f"{self._prefix}worker-{worker.number}", partial(self.picked.emit, worker)
            )
            button.setProperty("tall", True)
            button.setStyleSheet("text-align: left;")
            self._names_layout.addWidget(button)
        self._names_layout.addStretch(1)

    def _exact(self, name: str) -> Worker | None:
        return next((worker for worker in self._workers if worker.name.casefold() == name), None)

    def _go(self) -> None:
        name = self.field.text().strip()
        if not name:
            return
        known = self._exact(name.casefold())
        if known is not None:
            self.picked.emit(known)
        else:
            self.added.emit(name)
