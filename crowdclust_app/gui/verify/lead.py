"""The lead's view of a question set: figures, aggregators, workers, photos by verdict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QComboBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from crowdclust_app.domain.questions import Policy
from crowdclust_app.gui import theme
from crowdclust_app.gui.chrome import plain_button
from crowdclust_app.gui.clusters.album import people_probability
from crowdclust_app.gui.labels import ElidedLabel
from crowdclust_app.gui.pictures import PictureCache
from crowdclust_app.gui.splitting import splitter
from crowdclust_app.gui.verify.judges import JudgesPlot
from crowdclust_app.gui.verify.methods import ABOUT, MethodsTable
from crowdclust_app.gui.verify.photos import Files
from crowdclust_app.gui.verify.wall import PhotoWall, WallTile
from crowdclust_app.gui.words import count_of, people_time
from crowdclust_app.services.question_verdicts import IN, OUT, UNDECIDED, Verification, WorkerAsJudge
from crowdclust_app.services.verifying import QuestionSetInfo

DISPUTED, AGREED = "disputed", "agreed"
# Laying out more would hold up the window; the most telling come first, and the buttons count them all.
MOST_SHOWN = 20_000
KINDS = {
    DISPUTED: ("Disputed", "No photo has answers of both kinds."),
    UNDECIDED: ("Undecided", "Every photo is decided."),
    IN: ("Verified in", "No photo is verified in yet."),
    OUT: ("Verified out", "No photo is verified out yet."),
    AGREED: ("Agreed", "No photo has two answers that say the same yet."),
}


class LeadPage(QWidget):
    """One question set and what comes of it.

    Signals
    -------
    set_chosen : int
        Another question set is to be shown.
    method_chosen : str
        The verdicts of this aggregator count.
    answering, making
        The buttons to answer the questions and to make a set were pressed.
    """

    set_chosen = Signal(int)
    method_chosen = Signal(str)
    answering = Signal()
    making = Signal()

    def __init__(self, pictures: PictureCache, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("lead-page")
        self._verification: Verification | None = None
        self._files: Files = {}
        self._kind = DISPUTED
        self.sets = QComboBox()
        self.sets.setObjectName("question-sets")
        self.sets.setAccessibleName("Question set")
        self.sets.setMinimumWidth(240)
        self.answer_button = plain_button("Answer questions", "verify-answer", self.answering.emit, rank="first")
        self.new_button = plain_button("New question set", "verify-new", self.making.emit)
        self.figures = _words("verify-figures")
        self.errors = _words("verify-errors", rank="second")
        self.errors.setToolTip(
            "Upper bounds of Manino, Tran-Thanh and Jennings (2019) on the share of wrong verdicts of sbic-fast, up to "
            "a constant factor, if workers are as reliable as the prior Beta(2, 1) says"
        )
        self.methods = MethodsTable(self)
        self.judges = JudgesPlot(self)
        self.judge = _words("judge-about")
        self.judge.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.judge.setMinimumHeight(4 * self.fontMetrics().lineSpacing())
        self.method = ElidedLabel()
        self.method.setObjectName("method-about")
        self.method.setProperty("rank", "second")
        self.wall = PhotoWall(pictures, self)
        self.about = ElidedLabel()
        self.about.setObjectName("photo-about")
        self.nothing = _words("no-photos", rank="second")
        self._kinds: dict[str, QPushButton] = {}
        self._build()
        self.sets.activated.connect(self._set_activated)
        self.methods.chosen.connect(self._method_moved)
        self.judges.pointed.connect(self._tell_judge)
        self.wall.pointed.connect(self._tell_photo)

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(theme.STEP)
        head.addWidget(self.sets, 1)
        head.addWidget(self.new_button)
        head.addWidget(self.answer_button)
        about_methods = QLabel("Aggregators; the marked one's verdicts count")
        about_methods.setProperty("heading", "part")
        about_workers = QLabel("Workers, ± one standard deviation")
        about_workers.setProperty("heading", "part")
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.STEP)
        for widget in (self.figures, self.errors, about_methods, self.methods, self.method, about_workers):
            column.addWidget(widget)
        key = _words("judges-key", rank="second")
        key.setText(
            "Up: how often the worker says yes to what belongs. Right: how often no to what does not. Dashed: guessing."
        )
        beside_plot = QVBoxLayout()
        beside_plot.addWidget(self.judge)
        beside_plot.addWidget(key)
        beside_plot.addStretch(1)
        plot = QHBoxLayout()
        plot.setSpacing(theme.STEP)
        plot.addWidget(self.judges, 3)
        plot.addLayout(beside_plot, 2)
        column.addLayout(plot, 1)
        kinds = QHBoxLayout()
        kinds.setSpacing(theme.TILE_GAP)
        group = QButtonGroup(self)
        for kind, (title, _) in KINDS.items():
            button = plain_button(title, f"show-{kind}", partial(self.show_kind, kind), rank="plain")
            button.setCheckable(True)
            group.addButton(button)
            kinds.addWidget(button)
            self._kinds[kind] = button
        kinds.addStretch(1)
        right = QWidget()
        beside = QVBoxLayout(right)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(theme.STEP)
        beside.addLayout(kinds)
        beside.addWidget(self.nothing)
        beside.addWidget(self.wall, 1)
        beside.addWidget(self.about)
        self.columns = splitter(Qt.Orientation.Horizontal, left, right)
        self.columns.setStretchFactor(0, 0)
        self.columns.setStretchFactor(1, 1)
        self.columns.setSizes([500, 730])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MARGIN, theme.MARGIN, theme.MARGIN, theme.STEP)
        layout.setSpacing(theme.STEP)
        layout.addLayout(head)
        layout.addWidget(self.columns, 1)
        self.setFocusProxy(self.answer_button)

    # --- content

    @property
    def verification(self) -> Verification | None:
        """What is shown."""
        return self._verification

    def show_sets(self, sets: Sequence[QuestionSetInfo], current: int | None) -> None:
        """List the question sets, newest first."""
        self.sets.clear()
        for info in reversed(sets):
            asked = info.question_set
            about = f"cluster {asked.cluster} of run {asked.run}: " if asked.cluster is not None else ""
            title = f"{asked.number}  {about}{asked.sentence}  ({count_of(len(asked.items), 'photo')})"
            self.sets.addItem(title, asked.number)
        place = self.sets.findData(current)
        self.sets.setCurrentIndex(max(place, 0))

    def show_verification(self, verification: Verification | None, files: Files) -> None:
        """Show what the answers say; None while that is being computed for another set."""
        self._verification, self._files = verification, files
        self.figures.setText(_figures(verification) if verification is not None else "")
        self.errors.setText(_bounds(verification) if verification is not None else "")
        self.methods.show_verdicts(verification)
        self._show_method()

    def show_kind(self, kind: str) -> None:
        """Show the photos of this kind."""
        self._kind = kind
        self._show_photos()

    @property
    def _method(self) -> str:
        return self._verification.question_set.method if self._verification is not None else ""

    def _show_method(self) -> None:
        found = self._verification.method(self._method) if self._verification is not None else None
        self.method.setText(f"{self._method}: {ABOUT[self._method]}" if self._method in ABOUT else "")
        self.judges.show_workers(found.workers if found is not None else ())
        self._show_photos()

    def _positions(self, kind: str) -> tuple[int, ...]:
        verification = self._verification
        if verification is None:
            return ()
        if kind == DISPUTED:
            return verification.disputed
        if kind == AGREED:
            return verification.agreed
        return verification.with_verdict(self._method, kind)

    def _show_photos(self) -> None:
        for kind, button in self._kinds.items():
            count = len(self._positions(kind))
            button.setText(f"{KINDS[kind][0]} {count:,}" if self._verification is not None else KINDS[kind][0])
            button.setChecked(kind == self._kind)
        positions = self._positions(self._kind)
        self.wall.show_tiles(positions[:MOST_SHOWN], self._tile, self._files)
        self.wall.setVisible(bool(positions))
        empty = self._verification is not None and not positions
        unanswered = empty and not self._verification.labels  # type: ignore[union-attr]
        words = "No answers yet. Photos appear here as soon as people answer." if unanswered else KINDS[self._kind][1]
        self.nothing.setText(words if empty else "")
        self.nothing.setVisible(not positions)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)

    def _tile(self, position: int) -> WallTile:
        verification = self._verification
        assert verification is not None
        yes, no = int(verification.yes[position]), int(verification.no[position])
        said = ", ".join(f"{count} {word}" for count, word in ((yes, "yes"), (no, "no")) if count)
        found = verification.method(self._method)
        belief = people_probability(float(found.probability[position])) if found is not None else ""
        item = verification.question_set.items[position]
        path = self._files.get(item)
        return WallTile(position, item, path[0].name if path else str(item), said or "not asked", belief)

    # --- what is pointed at

    def _tell_photo(self, tile: WallTile | None) -> None:
        verification = self._verification
        if tile is None or verification is None:
            self.about.setText("")
            return
        said = "; ".join(f"{name} {said.value}" for name, said in verification.who_said(tile.position))
        self.about.setText(f"{tile.name}: {said or 'nobody has answered yet'}")

    def _tell_judge(self, worker: WorkerAsJudge | None) -> None:
        if worker is None:
            self.judge.setText("")
            return
        self.judge.setText(
            f"{worker.name}, {count_of(worker.labels, 'answer')}\n"
            f"sensitivity {worker.sensitivity:.2f} ± {worker.sensitivity_sd:.2f}\n"
            f"specificity {worker.specificity:.2f} ± {worker.specificity_sd:.2f}"
        )

    def _set_activated(self, row: int) -> None:
        self.set_chosen.emit(int(self.sets.itemData(row)))

    def _method_moved(self, method: str) -> None:
        if self._verification is not None:
            self.method_chosen.emit(method)


def _words(name: str, rank: str = "") -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setWordWrap(True)
    if rank:
        label.setProperty("rank", rank)
    return label


def _figures(verification: Verification) -> str:
    """Cost so far, and what the rest will cost."""
    planned, labels = verification.question_set.labels_planned, verification.labels
    words = f"{labels:,} of {count_of(planned, 'answer')} by {count_of(verification.workers, 'person', 'people')}"
    if not labels:
        return f"No answers yet, {count_of(planned, 'answer')} planned"
    spent = people_time(verification.seconds)
    left = max(0, planned - labels)
    rest = f", about {people_time(left * verification.seconds / labels)} to go" if left else ", none to go"
    return f"{words}; {spent} spent{rest}"


def _bounds(verification: Verification) -> str:
    """What the theorems say of the verdicts."""
    if verification.bound is None or verification.bound_now is None:
        return "Wrong verdicts are estimated after the first answers"
    theorem = "Theorem 1" if verification.question_set.policy is Policy.UNIFORM else "Theorem 2"
    per_item = verification.question_set.wanted
    return (
        f"{theorem}: about {_percent(verification.bound_now)} wrong now, {_percent(verification.bound)} at "
        f"{count_of(per_item, 'answer')} a photo"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.095 else f"{100 * share:.1f} %"
