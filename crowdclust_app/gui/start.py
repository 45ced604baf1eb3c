"""The Start screen: the open campaign at a glance; new, open, demo; campaigns that were open lately."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.gui import theme
from crowdclust_app.gui.chrome import Elided, plain_button
from crowdclust_app.gui.registry import ScreenEntry
from crowdclust_app.gui.screen import Screen, Shell
from crowdclust_app.services.campaign import recent
from crowdclust_app.services.campaign.recent import RecentCampaign
from crowdclust_app.services.folders import cache_folder
from crowdclust_app.services.progress_report import Progress

if TYPE_CHECKING:
    from crowdclust_app.services.campaign.campaigns import Campaign
    from crowdclust_app.services.campaign.counts import CampaignFigures

WIDTH = 960
# Figures of the open campaign: the word for several, the word for one.
WORDS = {
    "items": ("photos", "photo"),
    "hits": ("HITs", "HIT"),
    "responses": ("responses", "response"),
    "workers": ("workers", "worker"),
    "runs": ("runs", "run"),
}
LOOKS = (
    (theme.Look.SYSTEM, "Colours as the system"),
    (theme.Look.LIGHT, "Light"),
    (theme.Look.DARK, "Dark"),
    (theme.Look.CONTRAST, "High contrast"),
)


def when(then: datetime, now: datetime) -> str:
    """How long ago something was, in words."""
    days = (now.astimezone().date() - then.astimezone().date()).days
    if days <= 0:
        return "today"
    if days == 1:
        return "yesterday"
    if days < 14:
        return f"{days} days ago"
    return then.astimezone().strftime("%d %B %Y").lstrip("0")


def _silent(label: QLabel) -> QLabel:
    """A label on a button: clicks go to the button."""
    label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    return label


class StartCard(QPushButton):
    """A large button with a sign, a title and a sentence."""

    def __init__(self, name: str, icon: str, title: str, text: str, call: Callable[[], object]) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setProperty("rank", "card")
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        self._icon = icon
        self._sign = _silent(QLabel())
        heading = _silent(QLabel(title))
        heading.setProperty("heading", "part")
        about = _silent(QLabel(text))
        about.setProperty("rank", "second")
        about.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 24, 24)
        layout.setSpacing(8)
        layout.addWidget(self._sign)
        layout.addSpacing(8)
        layout.addWidget(heading)
        layout.addWidget(about)
        layout.addStretch(1)
        # a button is never narrower than its size hint unless its size policy allows it
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumHeight(196)
        self.clicked.connect(lambda: call())  # noqa: PLW0108 - without the argument `checked`
        self.draw_sign()

    def draw_sign(self) -> None:
        """Draw the sign in the colours of the palette."""
        colour = QApplication.palette().color(QPalette.ColorRole.Accent)
        self._sign.setPixmap(theme.icon_pixmap(self._icon, colour, 32, self.devicePixelRatioF()))

    def sizeHint(self) -> QSize:
        """Room for a title and two lines."""
        return QSize(300, 196)

    def minimumSizeHint(self) -> QSize:
        """Narrow enough for three beside each other in the smallest window; a button's own would be its size hint."""
        return QSize(200, 196)


class RecentRow(QWidget):
    """A campaign that was open lately; greyed where its file is gone."""

    def __init__(self, entry: RecentCampaign, exists: bool, screen: StartScreen) -> None:
        super().__init__()
        self.path = entry.path
        name, where = _silent(QLabel(entry.name)), Elided(str(entry.path.parent), Qt.TextElideMode.ElideMiddle)
        name.setFont(theme.sized(name, theme.TEXT, bold=True))
        _silent(where).setProperty("rank", "second")
        opened = _silent(QLabel(when(entry.opened_at, datetime.now(UTC)) if exists else "not there any more"))
        opened.setProperty("rank", "second")
        self.button = QPushButton()
        self.button.setObjectName(f"recent-{entry.name}")
        self.button.setProperty("rank", "row")
        self.button.setAccessibleName(f"Open {entry.name}" + ("" if exists else ", not there any more"))
        self.button.setEnabled(exists)
        self.button.setFixedHeight(40)
        self.button.clicked.connect(lambda: screen.shell.open_campaign(entry.path))
        inside = QHBoxLayout(self.button)
        inside.setContentsMargins(12, 0, 12, 0)
        inside.setSpacing(16)
        name.setFixedWidth(220)
        inside.addWidget(name)
        inside.addWidget(where, 1)
        inside.addWidget(opened)
        if not exists:
            for label in (name, where, opened):
                label.setProperty("state", "missing")
        forget = plain_button("Remove", f"forget-{entry.name}", lambda: screen.forget(entry.path), rank="plain")
        forget.setAccessibleName(f"Remove {entry.name} from this list")
        forget.setToolTip("Remove from this list; the file itself is left alone")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.button, 1)
        layout.addWidget(forget)


class CampaignGlance(QWidget):
    """The open campaign in a few figures, and where to go from here."""

    def __init__(self, shell: Shell) -> None:
        super().__init__()
        self.setObjectName("overview")
        self.heading = QLabel()
        self.heading.setObjectName("overview-name")
        self.heading.setProperty("heading", "page")
        self.place = Elided(mode=Qt.TextElideMode.ElideMiddle)
        self.place.setProperty("rank", "second")
        self._figures: dict[str, QLabel] = {}
        numbers = QHBoxLayout()
        numbers.setSpacing(32)
        self._words: dict[str, QLabel] = {}
        for key, words in WORDS.items():
            figure, label = QLabel(), QLabel(words[0])
            self._words[key] = label
            figure.setObjectName(f"overview-{key}")
            figure.setProperty("heading", "part")
            label.setObjectName(f"overview-{key}-word")
            label.setProperty("rank", "second")
            column = QVBoxLayout()
            column.setSpacing(0)
            column.addWidget(figure)
            column.addWidget(label)
            numbers.addLayout(column)
            self._figures[key] = figure
        numbers.addStretch(1)
        go = QHBoxLayout()
        go.setSpacing(8)
        self.annotate = plain_button("Annotate", "go-annotate", lambda: shell.show_screen("annotate"), rank="first")
        go.addWidget(self.annotate)
        go.addWidget(plain_button("See the clusters", "go-clusters", lambda: shell.show_screen("clusters")))
        go.addStretch(1)
        go.addWidget(plain_button("Close the campaign", "close-campaign", shell.close_campaign, rank="plain"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self.heading)
        layout.addWidget(self.place)
        layout.addSpacing(8)
        layout.addLayout(numbers)
        layout.addSpacing(8)
        layout.addLayout(go)

    def show_campaign(self, campaign: Campaign) -> None:
        """Say which one it is; the figures follow."""
        self.heading.setText(campaign.name)
        self.place.setText(str(campaign.path))
        for label in self._figures.values():
            label.setText("–")

    def show_figures(self, figures: CampaignFigures) -> None:
        """How far the campaign is."""
        texts = {
            "items": f"{figures.items:,}",
            "hits": f"{figures.hits:,}",
            "responses": f"{figures.responses:,}",
            "workers": f"{figures.workers:,}",
            "runs": f"{figures.runs:,}",
        }
        # imported HITs need not be in the plan, so what is planned is said apart
        planned = {}
        if figures.hits != figures.hits_planned:
            planned["hits"] = f", {figures.hits_planned:,} planned"
        if figures.assignments_planned:
            planned["responses"] = f", {figures.assignments_submitted:,} of {figures.assignments_planned:,} planned"
        for key, text in texts.items():
            self._figures[key].setText(text)
            self._words[key].setText(WORDS[key][text == "1"] + planned.get(key, ""))


class StartScreen(Screen):
    """Where the program begins."""

    def __init__(self, shell: Shell, entry: ScreenEntry) -> None:
        super().__init__(shell, entry)
        self._campaign: Campaign | None = None
        self._rows: list[RecentRow] = []
        self.overview = CampaignGlance(shell)
        self.overview.hide()
        self._heading = QLabel("Crowdclust")
        self._heading.setObjectName("start-heading")
        self._heading.setProperty("heading", "page")
        self.cards = (
            StartCard(
                "card-new",
                "new",
                "New campaign",
                "Choose a folder of photos and how people will sort them.",
                lambda: shell.show_screen("new"),
            ),
            StartCard(
                "card-open", "open", "Open", "Go on with a campaign file on this computer.", self.ask_for_campaign
            ),
            StartCard("card-demo", "demo", "Demo", "Look around in a small finished campaign.", self.open_demo),
        )
        self._recent_heading = QLabel("Recent campaigns")
        self._recent_heading.setProperty("heading", "part")
        self._recent_heading.hide()
        self._recent = QVBoxLayout()
        self._recent.setSpacing(4)
        self.looks = QComboBox()
        self.looks.setObjectName("look-choice")
        self.looks.setAccessibleName("Colours of the window")
        for look, word in LOOKS:
            self.looks.addItem(word, look.value)
        self.looks.setCurrentIndex(self.looks.findData(shell.remembered_look().value))
        self.looks.activated.connect(lambda _row: shell.set_look(theme.Look(self.looks.currentData())))
        self._lay_out()
        self.setFocusProxy(self.cards[0])
        shell.theme_changed.connect(self._theme_changed)

    def _lay_out(self) -> None:
        """One column in the middle, which scrolls where it is longer than the window."""
        row = QGridLayout()
        row.setSpacing(16)
        for k, card in enumerate(self.cards):
            row.addWidget(card, 0, k)
            row.setColumnStretch(k, 1)
        top = QHBoxLayout()
        top.addWidget(self._heading, 1)
        top.addWidget(self.looks)
        column = QWidget()
        column.setMaximumWidth(WIDTH)
        layout = QVBoxLayout(column)
        layout.setContentsMargins(16, 32, 16, 16)
        layout.setSpacing(16)
        layout.addWidget(self.overview)
        layout.addLayout(top)
        layout.addLayout(row)
        layout.addSpacing(8)
        layout.addWidget(self._recent_heading)
        layout.addLayout(self._recent)
        layout.addStretch(1)
        middle = QWidget()
        around = QHBoxLayout(middle)
        around.setContentsMargins(0, 0, 0, 0)
        around.addStretch(1)
        around.addWidget(column, 100)
        around.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(middle)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)

    # --- Screen

    def set_campaign(self, campaign: Campaign | None) -> None:
        """Show this campaign above the cards."""
        self._campaign = campaign
        self.overview.setVisible(campaign is not None)
        self._heading.setText("Crowdclust" if campaign is None else "Another campaign")
        self._heading.setProperty("heading", "page" if campaign is None else "part")
        self._heading.style().polish(self._heading)
        self.setFocusProxy(self.cards[0] if campaign is None else self.overview.annotate)
        if campaign is not None:
            self.overview.show_campaign(campaign)

    def refresh(self) -> None:
        """Read the figures and the list of recent campaigns again."""
        campaign = self._campaign
        if campaign is not None:

            def count(_progress: Progress, _token: CancelToken) -> CampaignFigures:
                # the Start screen is shown before SQLAlchemy is loaded
                from crowdclust_app.services.campaign.counts import campaign_figures

                return campaign_figures(campaign)

            self.shell.jobs.start(
                "database", count, on_done=lambda figures: self._show_figures(campaign, figures), owner=self
            )

        def work(_progress: Progress, _token: CancelToken) -> list[tuple[RecentCampaign, bool]]:
            # a network drive may take its time to say that a file is gone
            return [(entry, entry.exists) for entry in recent.recent_campaigns()]

        self.shell.jobs.start("decode", work, on_done=self._show_recent)

    # --- what it does

    def ask_for_campaign(self) -> None:
        """Let the user choose a campaign file."""
        chosen, _ = QFileDialog.getOpenFileName(self, "Open a campaign", "", "Campaigns (*.crowdclust)")
        if chosen:
            self.shell.open_campaign(Path(chosen))

    def open_demo(self) -> None:
        """Make the demo, if it is not there yet, and open it."""

        def work(progress: Progress, token: CancelToken) -> Path:
            # the Start screen is shown before the inference's compiled kernels are loaded
            from crowdclust_app.services.demo.demo_campaign import build_demo

            folder = cache_folder() / "demo"
            made = folder / "demo.crowdclust"
            return made if made.is_file() else build_demo(folder, progress=progress, cancel=token).campaign

        self.cards[2].setEnabled(False)
        self.shell.jobs.start(
            "inference",
            work,
            title="Making the demo",
            on_done=self._demo_made,
            on_failed=self._demo_failed,
            on_cancelled=lambda: self.cards[2].setEnabled(True),
            owner=self,
        )

    def forget(self, path: Path) -> None:
        """Take a campaign out of the list; its file is left alone."""

        def work(_progress: Progress, _token: CancelToken) -> None:
            recent.forget(path)

        self.shell.jobs.start("database", work, on_done=lambda _result: self.refresh(), owner=self, essential=True)

    def _demo_made(self, path: Path) -> None:
        self.cards[2].setEnabled(True)
        self.shell.open_campaign(path, show="clusters")

    def _demo_failed(self, error: BaseException) -> None:
        self.cards[2].setEnabled(True)
        self.shell.show_failure(error)

    def _show_figures(self, campaign: Campaign, figures: CampaignFigures) -> None:
        if campaign is self._campaign:
            self.overview.show_figures(figures)

    def _show_recent(self, entries: list[tuple[RecentCampaign, bool]]) -> None:
        here = None if self._campaign is None else self._campaign.path
        entries = [(entry, exists) for entry, exists in entries if entry.path != here]
        for row in self._rows:
            self._recent.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = [RecentRow(entry, exists, self) for entry, exists in entries]
        for row in self._rows:
            self._recent.addWidget(row)
        self._recent_heading.setVisible(bool(entries))

    def _theme_changed(self) -> None:
        for card in self.cards:
            card.draw_sign()
        self.looks.setCurrentIndex(self.looks.findData(self.shell.remembered_look().value))
