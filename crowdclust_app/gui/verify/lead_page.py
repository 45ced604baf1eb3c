"""The lead's view of a question set: figures, aggregators, workers, photos by verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.domain.methods import METHODS
from crowdclust_app.gui import theme
from crowdclust_app.gui.chrome import plain_button
from crowdclust_app.gui.clusters.album import people_probability
from crowdclust_app.gui.labels import ElidedLabel
from crowdclust_app.gui.pictures import PictureCache
from crowdclust_app.gui.splitting import splitter
from crowdclust_app.gui.verify.lead_words import KINDS, answer_figures, bound_figures
from crowdclust_app.gui.verify.learning_panel import LearningPanel
from crowdclust_app.gui.verify.learnt_view import AGREED, DISPUTED, EXTRA_KINDS, LearntView
from crowdclust_app.gui.verify.methods import MethodsTable
from crowdclust_app.gui.verify.photos import Files
from crowdclust_app.gui.verify.reliability_plot import ReliabilityPlot
from crowdclust_app.gui.verify.wall import PhotoWall, WallTile
from crowdclust_app.gui.verify.wall_bar import GoldBar, WallBar
from crowdclust_app.gui.wording import count_of
from crowdclust_app.services.verify.active_learning import Learnt
from crowdclust_app.services.verify.interview import QuestionSetInfo
from crowdclust_app.services.verify.verdicts import Verification, WorkerReliability

AGGREGATORS, LEARNING = "aggregators", "learning"
SIDES = {AGGREGATORS: "Aggregators", LEARNING: "Learn from images"}
# Laying out more would hold up the window; the most telling come first, and the buttons count them all.
MOST_SHOWN = 20_000


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
    gold_marked : (int, bool or None)
        The answer for this item is known; None: not any more.
    side_chosen : str
        Aggregators or learning are to be seen.
    """

    set_chosen = Signal(int)
    method_chosen = Signal(str)
    answering = Signal()
    making = Signal()
    gold_marked = Signal(object, object)
    side_chosen = Signal(str)

    def __init__(self, pictures: PictureCache, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("lead-page")
        self._verification: Verification | None = None
        self._waiting = ""
        self._files: Files = {}
        self._kind = DISPUTED
        self._side = AGGREGATORS
        self._learnt: Learnt | None = None
        self._gold: Mapping[int, bool] = {}
        self._view: LearntView | None = None
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
        self.worker_plot = ReliabilityPlot("reliability-plot", self, QSize(360, 320))
        self.worker_about = _words("reliability-about")
        self.worker_about.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.worker_about.setMinimumHeight(4 * self.fontMetrics().lineSpacing())
        self.method = ElidedLabel()
        self.method.setObjectName("method-about")
        self.method.setProperty("rank", "second")
        self.learning = LearningPanel(self)
        self.wall = PhotoWall(pictures, self)
        self.bar = WallBar(self)
        self.gold_bar = GoldBar(self)
        self.about = ElidedLabel()
        self.about.setObjectName("photo-about")
        self.nothing = _words("no-photos", rank="second")
        self._kinds: dict[str, QPushButton] = {}
        self._build()
        self.sets.activated.connect(self._set_activated)
        self.methods.chosen.connect(self._method_moved)
        self.worker_plot.worker_pointed.connect(self._tell_worker)
        self.wall.pointed.connect(self._tell_photo)
        self.wall.gold.connect(self.mark_gold)
        self.gold_bar.gold.connect(self.mark_gold)
        self.bar.order_chosen.connect(self._show_photos)
        self.show_side(AGGREGATORS)

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
        aggregators = QWidget()
        column = QVBoxLayout(aggregators)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.STEP)
        for widget in (self.errors, about_methods, self.methods, self.method, about_workers):
            column.addWidget(widget)
        key = _words("reliability-plot-key", rank="second")
        key.setText(
            "Up: how often the worker says yes to what belongs. Right: how often no to what does not. Dashed: guessing."
        )
        beside_plot = QVBoxLayout()
        beside_plot.addWidget(self.worker_about)
        beside_plot.addWidget(key)
        beside_plot.addStretch(1)
        plot = QHBoxLayout()
        plot.setSpacing(theme.STEP)
        plot.addWidget(self.worker_plot, 3)
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
        for kind, button in self.bar.kinds.items():
            button.clicked.connect(partial(self.show_kind, kind))
            group.addButton(button)
            self._kinds[kind] = button
        right = QWidget()
        beside = QVBoxLayout(right)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(theme.STEP)
        beside.addLayout(kinds)
        beside.addWidget(self.bar)
        beside.addWidget(self.nothing)
        beside.addWidget(self.wall, 1)
        beside.addWidget(self.about)
        beside.addWidget(self.gold_bar)
        self.columns = splitter(Qt.Orientation.Horizontal, self._make_left(aggregators), right)
        self.columns.setStretchFactor(0, 0)
        self.columns.setStretchFactor(1, 1)
        self.columns.setSizes([500, 730])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MARGIN, theme.MARGIN, theme.MARGIN, theme.STEP)
        layout.setSpacing(theme.STEP)
        layout.addLayout(head)
        layout.addWidget(self.columns, 1)
        self.setFocusProxy(self.answer_button)

    def _make_left(self, aggregators: QWidget) -> QWidget:
        """The figures above the evidence for the photos: aggregators, or the classifier learnt from images."""
        self._sides: dict[str, QPushButton] = {}
        self._stack = QStackedWidget()
        row = QHBoxLayout()
        row.setSpacing(theme.TILE_GAP)
        group = QButtonGroup(self)
        # many warnings must not push the window out of the display
        room = QScrollArea()
        room.setWidgetResizable(True)
        room.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        room.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        room.setFrameShape(QFrame.Shape.NoFrame)
        room.setWidget(self.learning)
        for side, page in ((AGGREGATORS, aggregators), (LEARNING, room)):
            button = plain_button(SIDES[side], f"side-{side}", partial(self.show_side, side), rank="plain")
            button.setCheckable(True)
            group.addButton(button)
            row.addWidget(button)
            self._sides[side] = button
            self._stack.addWidget(page)
        row.addStretch(1)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.STEP)
        column.addWidget(self.figures)
        column.addLayout(row)
        column.addWidget(self._stack, 1)
        return left

    # --- content

    @property
    def learns(self) -> bool:
        """Whether the photos are shown as they were learnt."""
        return self._side == LEARNING

    def show_side(self, side: str) -> None:
        """Show the photos as the aggregators, or as what was learnt, see them."""
        if side not in SIDES:
            return
        changed, self._side = side != self._side, side
        self._sides[side].setChecked(True)
        self._stack.setCurrentIndex(list(SIDES).index(side))
        for bar in (self.bar, self.gold_bar):
            bar.setVisible(self.learns)
        if not self.learns and self._kind in EXTRA_KINDS:
            self._kind = DISPUTED
        self._show_photos()
        if changed:
            self.side_chosen.emit(side)

    def show_learnt(self, learnt: Learnt | None) -> None:
        """Show what was learnt; None while there is nothing."""
        if learnt is not self._learnt or learnt is None:
            self._learnt = learnt
            self.learning.show_learnt(learnt)
            self._see()

    def show_gold(self, gold: Mapping[int, bool]) -> None:
        """Show these photos as gold."""
        self._gold = gold
        self._see()

    def _see(self) -> None:
        """Put answers, gold and predictions together; predictions of another set are not of these photos."""
        found, learnt = self._verification, self._learnt
        if learnt is not None and (found is None or learnt.items != found.question_set.items):
            learnt = None
        self._view = LearntView(found, learnt, self._gold) if found is not None else None
        self._show_photos()

    def mark_gold(self, yes: bool | None) -> None:
        """Say that the answer for the chosen photo is known; None: not any more."""
        tile, view = self.wall.current, self._view
        if tile is None or view is None:
            self.about.setText("Choose a photo first; then G: it belongs, Shift+G: it does not, Delete: not gold")
        elif view.is_outside(tile.position):
            self.about.setText("Only a photo of this question set can be gold")
        else:
            self.gold_marked.emit(tile.item, yes)

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
        if verification is not None:
            self._waiting = ""
        self.figures.setText(answer_figures(verification) if verification is not None else self._waiting)
        self.errors.setText(bound_figures(verification) if verification is not None else "")
        self.methods.show_verdicts(verification)
        self._show_method()

    def show_waiting(self, words: str) -> None:
        """Say why there is nothing to see yet."""
        self._waiting = words
        if self._verification is None:
            self.figures.setText(words)
            self.nothing.setText(words)

    def show_kind(self, kind: str) -> None:
        """Show the photos of this kind; some kinds are known to learning alone."""
        self._kind = kind
        if kind in EXTRA_KINDS:
            self.show_side(LEARNING)
        self._show_photos()

    @property
    def _method(self) -> str:
        return self._verification.question_set.method if self._verification is not None else ""

    def _show_method(self) -> None:
        found = self._verification.method(self._method) if self._verification is not None else None
        about = METHODS.get(self._method)
        self.method.setText(f"{about.name}: {about.sentence}" if about else "")
        self.worker_plot.show_workers(found.workers if found is not None else ())
        self._see()

    def _positions(self, kind: str) -> tuple[int, ...]:
        verification = self._verification
        if verification is None:
            return ()
        if self.learns:
            return self._view.positions(kind, self.bar.chosen_order) if self._view is not None else ()
        if kind == DISPUTED:
            return verification.disputed
        if kind == AGREED:
            return verification.agreed
        if kind in EXTRA_KINDS:
            return ()
        return verification.with_verdict(self._method, kind)

    def _count(self, kind: str) -> int:
        if self.learns:
            return self._view.count(kind) if self._view is not None else 0
        return len(self._positions(kind))

    def _show_photos(self, *_: object) -> None:
        words_of = {**KINDS, **EXTRA_KINDS}
        for kind, button in self._kinds.items():
            count = self._count(kind)
            title = words_of[kind][0]
            button.setText(f"{title} {count:,}" if self._verification is not None else title)
            button.setChecked(kind == self._kind)
        positions = self._positions(self._kind)
        self.wall.show_tiles(positions[:MOST_SHOWN], self._tile, self._files)
        self.wall.setVisible(bool(positions))
        empty = self._verification is not None and not positions
        unanswered = empty and not self._verification.labels  # type: ignore[union-attr]
        words = words_of[self._kind][1]
        if unanswered and not self.learns:
            words = "No answers yet. Photos appear here as soon as people answer."
        self.nothing.setText(words if empty else self._waiting if self._verification is None else "")
        self.nothing.setVisible(not positions)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)

    def _tile(self, position: int) -> WallTile:
        verification = self._verification
        assert verification is not None
        if self.learns and self._view is not None:
            return self._view.tile(position, self._files)
        yes, no = int(verification.yes[position]), int(verification.no[position])
        said = ", ".join(f"{count} {word}" for count, word in ((yes, "yes"), (no, "no")) if count)
        found = verification.method(self._method)
        belief = people_probability(float(found.probability[position])) if found is not None else ""
        item = verification.question_set.items[position]
        path = self._files.get(item)
        return WallTile(
            position, item, path[0].name if path else str(item), said or "not asked", belief, gold=self._gold.get(item)
        )

    # --- what is pointed at

    def _tell_photo(self, tile: WallTile | None) -> None:
        verification, view = self._verification, self._view
        outside = tile is not None and view is not None and view.is_outside(tile.position)
        self.gold_bar.offer(tile is not None and not outside, tile.gold if tile is not None else None)
        if tile is None or verification is None:
            self.about.setText("")
            return
        if view is not None and (self.learns or tile.gold is not None):
            self.about.setText(view.told(tile))
            return
        said = "; ".join(f"{name} {said.value}" for name, said in verification.who_said(tile.position))
        self.about.setText(f"{tile.name}: {said or 'nobody has answered yet'}")

    def _tell_worker(self, worker: WorkerReliability | None) -> None:
        if worker is None:
            self.worker_about.setText("")
            return
        self.worker_about.setText(
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
