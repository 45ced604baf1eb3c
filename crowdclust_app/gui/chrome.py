"""The frame around the screens: rail, error bar, status line."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.gui import theme
from crowdclust_app.gui.jobs import Job, Jobs

RAIL_WIDTH = 104


class Elided(QLabel):
    """One line of text that ends in an ellipsis where there is no room; the whole text is its tooltip."""

    def __init__(self, text: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__(text)
        self._mode = mode
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def minimumSizeHint(self) -> QSize:
        """It can become very narrow."""
        return QSize(16, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw as much as there is room for."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        painter.setFont(self.font())
        line = self.text().replace("\n", " ")
        shown = QFontMetrics(self.font()).elidedText(line, self._mode, self.width())
        if self.toolTip() != (self.text() if shown != line else ""):
            self.setToolTip(self.text() if shown != line else "")
        painter.drawText(self.rect(), int(self.alignment() | Qt.AlignmentFlag.AlignVCenter), shown)


class Rail(QWidget):
    """The screens as a column of icons with their words.

    Signals
    -------
    chosen : str
        Name of the screen.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("rail")
        self.setAccessibleName("Screens")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedWidth(RAIL_WIDTH)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(8, 8, 8, 8)
        self._layout.setSpacing(4)
        self._layout.addStretch(1)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._buttons: dict[str, QToolButton] = {}
        self._icons: dict[str, str] = {}

    def add(self, name: str, title: str, icon: str, key: str) -> None:
        """Add a screen at the end."""
        button = QToolButton()
        button.setObjectName(f"rail-{name}")
        button.setText(title)
        button.setAccessibleName(title)
        button.setToolTip(f"{title} ({key})")
        button.setCheckable(True)
        button.setIconSize(QSize(24, 24))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.setFixedHeight(64)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda: self.chosen.emit(name))
        self._group.addButton(button)
        self._layout.insertWidget(self._layout.count() - 1, button)
        self._buttons[name] = button
        self._icons[name] = icon
        self.repaint_icons()

    def mark(self, name: str) -> None:
        """Show which screen is at the front; none for a screen that is not in the rail."""
        self._group.setExclusive(False)
        for other, button in self._buttons.items():
            button.setChecked(other == name)
        self._group.setExclusive(True)

    def set_enabled(self, name: str, enabled: bool) -> None:
        """Whether the screen can be gone to now."""
        self._buttons[name].setEnabled(enabled)

    def repaint_icons(self) -> None:
        """Draw the icons in the colours of the palette."""
        for name, button in self._buttons.items():
            button.setIcon(theme.icon(self._icons[name], QApplication.palette()))


class ErrorBar(QFrame):
    """What is wrong and what to do, over the top of the screen, so that nothing below moves; details are folded."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        parent.installEventFilter(self)
        self.setObjectName("error-bar")
        self.setAccessibleName("Error")
        self.text = QLabel()
        self.text.setObjectName("error-text")
        self.text.setWordWrap(True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.fold = QPushButton("Details")
        self.fold.setObjectName("error-details-button")
        self.fold.setCheckable(True)
        self.fold.setProperty("rank", "plain")
        self.shut = QPushButton("Dismiss")
        self.shut.setObjectName("error-dismiss")
        self.shut.setProperty("rank", "plain")
        self.details = QPlainTextEdit()
        self.details.setObjectName("error-details")
        self.details.setReadOnly(True)
        self.details.setMaximumHeight(160)
        self.details.hide()
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.text, 1)
        line.addWidget(self.fold, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(self.shut, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 8, 8, 8)
        layout.addLayout(line)
        layout.addWidget(self.details)
        self.fold.toggled.connect(self._unfold)
        self.shut.clicked.connect(self.dismiss)
        self.hide()

    def show_error(self, text: str, details: str = "") -> None:
        """Say this; it replaces what was said before."""
        self.text.setText(text)
        self.details.setPlainText(details)
        self.fold.setChecked(False)
        self.fold.setVisible(bool(details))
        self.show()
        self.place()
        self.raise_()

    def dismiss(self) -> None:
        """The user has read it."""
        self.hide()

    def place(self) -> None:
        """Lie across the whole width, as high as the text needs."""
        width = self._over.width()
        self.setGeometry(0, 0, width, min(self.heightForWidth(width), self._over.height()))

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Follow the size of what it lies over."""
        if event.type() == QEvent.Type.Resize:
            self.place()
        return False

    def _unfold(self, unfolded: bool) -> None:
        self.details.setVisible(unfolded)
        self.place()


class StatusLine(QWidget):
    """One line at the bottom: the campaign, what was saved, what is running."""

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self.setObjectName("status-line")
        self.setAccessibleName("Status")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(32)
        self._jobs = jobs
        self._shown: Job | None = None
        self.campaign = Elided("No campaign open", Qt.TextElideMode.ElideMiddle)
        self.campaign.setObjectName("status-campaign")
        self.said = Elided()
        self.said.setObjectName("status-said")
        self.work = Elided()
        self.work.setObjectName("status-work")
        self.work.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.bar = QProgressBar()
        self.bar.setObjectName("status-progress")
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(140)
        self.cancel = QPushButton("Cancel")
        self.cancel.setObjectName("status-cancel")
        self.cancel.setProperty("rank", "plain")
        self.cancel.setStyleSheet("padding: 0 8px; min-height: 24px;")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 0, 8, 0)
        layout.setSpacing(16)
        layout.addWidget(self.campaign, 2)
        layout.addWidget(self.said, 3)
        layout.addWidget(self.work, 3)
        layout.addWidget(self.bar)
        layout.addWidget(self.cancel)
        # the room of what appears with a job is kept free, so that nothing moves
        for widget in (self.bar, self.cancel):
            policy = widget.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            widget.setSizePolicy(policy)
            widget.hide()
        self.cancel.clicked.connect(self._cancel)
        jobs.changed.connect(self.show_jobs)

    def show_jobs(self) -> None:
        """Show the newest job that has a title."""
        running = [job for job in self._jobs.active if job.title]
        self._shown = running[-1] if running else None
        self.bar.setVisible(bool(running))
        self.cancel.setVisible(bool(running))
        if self._shown is None:
            self.work.setText("")
            return
        job = self._shown
        stopping = job.token.cancelled
        self.cancel.setEnabled(not stopping and not job.essential)
        more = f" (and {len(running) - 1} more)" if len(running) > 1 else ""
        text = job.title if job.report is None or not job.report.text else f"{job.title}: {job.report.text}"
        self.work.setText(f"Stopping: {job.title}" if stopping else text + more)
        fraction = None if job.report is None else job.report.fraction
        self.bar.setRange(0, 0 if fraction is None else 1000)
        if fraction is not None:
            self.bar.setValue(round(1000 * fraction))

    def _cancel(self) -> None:
        if self._shown is not None:
            self._shown.cancel()


def plain_button(text: str, name: str, call: Callable[[], object], rank: str = "") -> QPushButton:
    """A button with its name for tests and screen readers, connected."""
    button = QPushButton(text)
    button.setObjectName(name)
    if rank:
        button.setProperty("rank", rank)
    # without the argument `checked` that Qt adds
    button.clicked.connect(lambda: call())  # noqa: PLW0108
    return button
