"""The annotator's view: a sentence, one large photo, photos of the category beside it, three keys."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QElapsedTimer, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from crowdclust_app.domain.questions import AnswerKind
from crowdclust_app.gui import theme
from crowdclust_app.gui.chrome import plain_button
from crowdclust_app.gui.pictures import PictureCache
from crowdclust_app.gui.verify.photos import Files, Neighbours, OnePhoto
from crowdclust_app.gui.verify.session import AskedQuestion
from crowdclust_app.gui.wording import count_of
from crowdclust_app.services.verify.interview import AskingProgress

SIDE = 280
# Whoever takes longer than this for a photo was away.
LONGEST_SECONDS = 120.0


class AnswerPage(QWidget):
    """One question after another.

    Signals
    -------
    answered : (AnswerKind, float)
        What was said, and after how many seconds.
    undone
        The last answer is to be taken back.
    worker_left
        The worker is to be changed.
    closed
        Back to the question sets.
    """

    answered = Signal(object, float)
    undone = Signal()
    worker_left = Signal()
    closed = Signal()

    def __init__(self, pictures: PictureCache, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("answer-page")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.photo = OnePhoto(pictures, self)
        self.neighbours = Neighbours(pictures, self)
        self.sentence = QLabel()
        self.sentence.setObjectName("question-sentence")
        self.sentence.setProperty("heading", "page")
        self.sentence.setWordWrap(True)
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.worker_button = plain_button("", "answer-worker", self.worker_left.emit, rank="plain")
        self.back_button = plain_button("Question sets", "answer-back", self.closed.emit, rank="plain")
        self.count = QLabel()
        self.count.setObjectName("answer-progress")
        self.count.setProperty("rank", "second")
        self.bar = QProgressBar()
        self.bar.setObjectName("answer-bar")
        self.bar.setTextVisible(False)
        self.said = QLabel()
        self.said.setObjectName("answer-said")
        self.said.setProperty("rank", "second")
        self._beside = QLabel("Photos that belong")
        self._beside.setProperty("heading", "part")
        self._buttons: dict[AnswerKind, QPushButton] = {}
        self._clock = QElapsedTimer()
        self._waiting = True
        self._open = False
        self._build()

    def _build(self) -> None:
        for said, title in ((AnswerKind.YES, "Yes  (Y)"), (AnswerKind.NO, "No  (N)"), (AnswerKind.SKIP, "Skip  (S)")):
            button = plain_button(title, f"answer-{said.value}", partial(self.say, said))
            button.setProperty("tall", True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setMinimumWidth(120)
            self._buttons[said] = button
        self.undo_button = plain_button("Undo  (Ctrl+Z)", "answer-undo", self.undo, rank="plain")
        self.undo_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.end_heading, self.end_text = QLabel(), QLabel()
        self.end_heading.setObjectName("answer-end")
        self.end_heading.setProperty("heading", "page")
        self.end_text.setProperty("rank", "second")
        head = QHBoxLayout()
        head.setSpacing(theme.STEP)
        head.addWidget(self.sentence, 1)
        for widget in (self.worker_button, self.back_button):
            widget.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            head.addWidget(widget, 0, Qt.AlignmentFlag.AlignTop)
        self._side = QWidget()
        self._side.setFixedWidth(SIDE)
        beside = QVBoxLayout(self._side)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(theme.STEP)
        beside.addWidget(self._beside)
        beside.addWidget(self.neighbours, 1)
        middle = QHBoxLayout()
        middle.setSpacing(theme.MARGIN)
        middle.addWidget(self.photo, 1)
        middle.addWidget(self._side)
        keys = QHBoxLayout()
        keys.setSpacing(theme.STEP)
        keys.addWidget(self.undo_button)
        keys.addWidget(self.said, 1)
        for said in (AnswerKind.SKIP, AnswerKind.NO, AnswerKind.YES):
            keys.addWidget(self._buttons[said])
        progress = QHBoxLayout()
        progress.setSpacing(theme.MARGIN)
        progress.addWidget(self.bar, 1)
        progress.addWidget(self.count)
        asking = QWidget()
        inside = QVBoxLayout(asking)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(theme.STEP)
        inside.addLayout(middle, 1)
        inside.addLayout(keys)
        self._pages = QStackedWidget()
        self._pages.addWidget(asking)
        self._pages.addWidget(self._make_end())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MARGIN, theme.MARGIN, theme.MARGIN, theme.STEP)
        layout.setSpacing(theme.STEP)
        layout.addLayout(head)
        layout.addWidget(self._pages, 1)
        layout.addLayout(progress)

    def _make_end(self) -> QWidget:
        page = QWidget()
        self.end_back = plain_button("See the verdicts", "answer-done", self.closed.emit, rank="first")
        self.end_other = plain_button("Somebody else answers", "answer-other", self.worker_left.emit)
        self.end_undo = plain_button("Undo the last answer", "answer-end-undo", self.undo)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.STEP)
        for button in (self.end_back, self.end_other, self.end_undo):
            button.setProperty("tall", True)
            buttons.addWidget(button)
        buttons.addStretch(1)
        layout = QVBoxLayout(page)
        layout.setSpacing(theme.MARGIN)
        layout.addStretch(1)
        layout.addWidget(self.end_heading)
        layout.addWidget(self.end_text)
        layout.addLayout(buttons)
        layout.addStretch(2)
        return page

    def wait(self, sentence: str, worker: str) -> None:
        """The first question is on its way."""
        self._waiting, self._open = True, False
        self.sentence.setText(sentence)
        self.worker_button.setText(worker)
        self.worker_button.setAccessibleName(f"{worker} answers; change")
        self.photo.show_item(None, (), {})
        self.neighbours.show_items((), {})
        self.said.setText("")
        self.count.setText("")
        self.bar.setRange(0, 1)
        self.bar.setValue(0)
        self._pages.setCurrentIndex(0)
        self._enable()

    def show_turn(self, turn: AskedQuestion, files: Files) -> None:
        """Show a question, or that there is none left."""
        self._waiting = False
        question = turn.question
        self._open = question is not None
        self._show_progress(turn.progress)
        if question is None:
            self._show_end(turn.progress)
        else:
            beside = [item for item in turn.neighbours if item != question.item]
            self._side.setVisible(bool(turn.neighbours))
            self.photo.show_item(question.item, question.ahead, files)
            self.neighbours.show_items(beside, files)
            self._pages.setCurrentIndex(0)
            if turn.undone:
                self.said.setText("Taken back; answer it again")
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._enable()
        self._clock.start()

    def _show_progress(self, progress: AskingProgress) -> None:
        mine = progress.answered + progress.skipped
        self.bar.setRange(0, max(1, mine + progress.remaining))
        self.bar.setValue(mine)
        skipped = f", {progress.skipped} skipped" if progress.skipped else ""
        self.count.setText(f"{progress.answered:,} answered{skipped}, {progress.remaining:,} to go")

    def _show_end(self, progress: AskingProgress) -> None:
        self.end_heading.setText("Nothing left to ask you")
        done = f"You have answered {count_of(progress.answered, 'question')}. "
        planned = progress.labels >= progress.planned
        rest = "All answers that were planned are there." if planned else "What is still open is for other people."
        self.end_text.setText(done + rest)
        self._pages.setCurrentIndex(1)
        self.end_undo.setEnabled(bool(progress.answered + progress.skipped))
        self.end_back.setFocus(Qt.FocusReason.OtherFocusReason)

    def say(self, said: AnswerKind) -> None:
        """Answer the question on screen; while the next one is on its way, keys do nothing."""
        if self._waiting or not self._open:
            return
        self._waiting = True
        words = {AnswerKind.YES: "You said yes", AnswerKind.NO: "You said no", AnswerKind.SKIP: "Skipped"}
        self.said.setText(words[said])
        self.answered.emit(said, min(self._clock.elapsed() / 1000.0, LONGEST_SECONDS))

    def undo(self) -> None:
        """Take the last answer back."""
        if not self._waiting:
            self.undone.emit()

    def thaw(self) -> None:
        """Nothing was stored: the question on screen can be answered again."""
        self._waiting = False
        self.said.setText("")

    def _enable(self) -> None:
        for button in self._buttons.values():
            button.setEnabled(self._open)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Y, N, S, Ctrl+Z."""
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        said = {Qt.Key.Key_Y: AnswerKind.YES, Qt.Key.Key_N: AnswerKind.NO, Qt.Key.Key_S: AnswerKind.SKIP}.get(
            Qt.Key(event.key())
        )
        if control and event.key() == Qt.Key.Key_Z:
            self.undo()
        elif not control and said is not None and not event.isAutoRepeat():
            self.say(said)
        else:
            super().keyPressEvent(event)
