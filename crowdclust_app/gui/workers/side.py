"""The chosen worker: matrix in large, over time, HITs as sorted, trust."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QStackedWidget, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import Album
from crowdclust_app.gui.workers.history import HitsPage, TimePage
from crowdclust_app.gui.workers.large import EXAMPLES, LargeMatrix
from crowdclust_app.gui.workers.reliability_page import TrustPage
from crowdclust_app.gui.workers.segments import Segments
from crowdclust_app.services.clusters.categories import Categories
from crowdclust_app.services.clusters.run_view import RunView
from crowdclust_app.services.workers.worker_rows import RETIRED, WorkerRow

CALIBRATED, BOUND = "calibrated", "bound"
ABOUT = {
    CALIBRATED: "How probable it is that this worker puts photos of two clusters into one group",
    BOUND: "The same by the paper's eq. 10, which is a lower bound and can be much too low",
}
MATRIX, TIME, HITS, TRUST = "matrix", "time", "hits", "trust"
PAGES = ((MATRIX, "Matrix"), (TIME, "Over time"), (HITS, "HITs"), (TRUST, "Trust"))


class WorkerSide(QWidget):
    """Everything about one worker.

    Signals
    -------
    kind_chosen : str
        The calibrated matrices or the bound.
    page_chosen : str
        What is shown of the worker.
    """

    kind_chosen = Signal(str)
    page_chosen = Signal(str)

    def __init__(self, album: Album, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = CALIBRATED
        self._has_matrix = False
        self.large = LargeMatrix(album, self)
        self.time = TimePage(self)
        self.hits = HitsPage(album, self)
        self.trust = TrustPage(self)
        self.name = label_of(self, "worker-name", heading="part")
        self.about = label_of(self, "worker-about", rank="second")
        self._pointed = label_of(self, "matrix-value")
        self._kinds = Segments(
            ((CALIBRATED, "Calibrated"), (BOUND, "The paper's bound (eq. 10)")), self.kind_chosen.emit, "kind", self
        )
        for kind, button in self._kinds.buttons.items():
            button.setToolTip(ABOUT[kind])
        self.switch = Segments(PAGES, self.show_page, "worker-page", self)
        self._build()
        self.large.pointed.connect(self._tell_cell)
        self.time.chosen.connect(self._show_hit)
        self.show_page(MATRIX)

    def _build(self) -> None:
        matrix = QWidget(self)
        inside = QVBoxLayout(matrix)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(theme.STEP)
        for words in (self.about, self._pointed):
            words.setWordWrap(True)
        self._pointed.setMinimumHeight(2 * self.fontMetrics().height() + theme.STEP)
        self._pointed.setAlignment(Qt.AlignmentFlag.AlignTop)
        inside.addWidget(self._kinds)
        inside.addWidget(self._pointed)
        inside.addWidget(self.large, 1)
        self._pages = QStackedWidget(self)
        self._widgets = {MATRIX: matrix, TIME: self.time, HITS: self.hits, TRUST: self.trust}
        for widget in self._widgets.values():
            self._pages.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.STEP)
        layout.addWidget(self.name)
        layout.addWidget(self.about)
        layout.addWidget(self.switch)
        layout.addWidget(self._pages, 1)

    def show_page(self, page: str) -> None:
        """Show this of the worker."""
        page = page if page in self._widgets else MATRIX
        self.switch.press(page)
        self._pages.setCurrentWidget(self._widgets[page])
        self.page_chosen.emit(page)

    def _show_hit(self, hit: str) -> None:
        self.hits.choose(hit)
        self.show_page(HITS)

    def show_kind(self, kind: str, has_view: bool) -> None:
        """Say which matrices are shown."""
        self._kind, self._has_matrix = kind, has_view
        self._kinds.press(kind)
        self._kinds.setVisible(has_view)

    def show_matrix(self, matrix: Any, view: RunView | None, categories: Categories | None) -> None:
        """Show a matrix of shape (K, K) in the run's own order of clusters; None for a worker without one."""
        if matrix is None or view is None:
            self.large.show_matrix(None, [], [])
            return
        by_number = {row.number: row for row in view.clusters}
        numbers = [int(k) + 1 for k in view.order]
        examples = [by_number[n].items[:EXAMPLES].tolist() if n in by_number else [] for n in numbers]
        names = [categories.name(n) if categories is not None else "" for n in numbers]
        self.large.show_matrix(matrix[view.order][:, view.order], numbers, examples, names)

    def show_head(self, name: str, about: str) -> None:
        """Say who it is."""
        self.name.setText(name)
        self.about.setText(about)

    def _tell_cell(self, words: str) -> None:
        self._pointed.setText(words or (ABOUT[self._kind] + "." if self._has_matrix else ""))


def about_worker(worker: WorkerRow | None, view: RunView | None, all_for_one: bool, reasons: dict[str, str]) -> str:
    """Habits in full sentences, or why there is no matrix."""
    if worker is None:
        return ""
    sentences = [reasons[flag] for flag in worker.flags]
    if worker.hits == 0:
        sentences.append("Has not submitted a HIT yet, so there is no matrix.")
    elif view is not None and worker.matrix is None and RETIRED in worker.flags:
        sentences.append("Left out of this run, so it has no matrix.")
    elif view is not None and worker.matrix is None and not all_for_one:
        sentences.append("Had not submitted a HIT when this run was made, so it has no matrix.")
    elif not sentences and worker.likeness is not None:
        sentences.append(f"Likeness to the clusters {worker.likeness:.2f}; 1 is the same groups, 0 what chance gives.")
    return " ".join(sentences)


def label_of(parent: QWidget, name: str, **properties: str) -> QLabel:
    """A label with its name, for plain text."""
    label = QLabel(parent)
    label.setObjectName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    # a name that is written from right to left is aligned like every other
    label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter)
    for key, value in properties.items():
        label.setProperty(key, value)
    return label
