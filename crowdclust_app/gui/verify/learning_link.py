"""Ties the lead's page to learning from images: what is shown, what is chosen, the commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeySequence, QShortcut

from crowdclust_app.gui.screen import Screen, Shell
from crowdclust_app.gui.verify.lead_page import LEARNING, SIDES, LeadPage
from crowdclust_app.gui.verify.learning_work import LearningWork
from crowdclust_app.gui.verify.learnt_view import DOUBT, EXTRA_KINDS
from crowdclust_app.services.verify.active_learning import LearningSettings

SIDE_KEY, ORDER_KEY = "verify-side", "verify-order"


class LearningLink(QObject):
    """Learning of the question set on the lead's page.

    Parameters
    ----------
    lead
        Where it is shown and switched.
    """

    def __init__(self, shell: Shell, lead: LeadPage) -> None:
        super().__init__(lead)
        self._shell = shell
        self._lead = lead
        self.work = LearningWork(shell, self)
        panel = lead.learning
        self.work.settings_read.connect(self._show_settings)
        self.work.learnt.connect(lead.show_learnt)
        self.work.gold_changed.connect(lead.show_gold)
        self.work.busy.connect(panel.show_busy)
        self.work.reported.connect(panel.show_progress)
        self.work.trouble.connect(panel.show_trouble)
        panel.setup.changed.connect(self._choose)
        panel.wanted.connect(self.work.learn_now)
        panel.stopped.connect(self.work.cancel)
        lead.gold_marked.connect(self.work.gold)
        lead.side_chosen.connect(partial(shell.remember, SIDE_KEY))
        lead.bar.order_chosen.connect(partial(shell.remember, ORDER_KEY))

    def recall(self) -> None:
        """Restore the order and the side that were shown last."""
        self._lead.bar.show_order(self._shell.recall(ORDER_KEY, DOUBT))
        self._lead.show_side(self._shell.recall(SIDE_KEY, ""))

    def close(self) -> None:
        """Release what belongs to the campaign before it is closed."""
        self.work.stop()

    def add_commands(self, screen: Screen) -> None:
        """List what can be done, in the palette and in the help."""
        lead, add = self._lead, self._shell.add_command
        for side, title in SIDES.items():
            add(f"Show: {title.lower()}", "", partial(self._on_lead, partial(lead.show_side, side)), owner=screen)
        for kind, (title, _) in EXTRA_KINDS.items():
            add(f"Photos: {title.lower()}", "", partial(lead.show_kind, kind), owner=screen)
        add("Switch learning from images on or off", "", partial(self._on_lead, self._switch), owner=screen)
        add("Learn now", "", partial(self._on_lead, self.work.learn_now), owner=screen)
        for title, key, yes in (
            ("Gold: the chosen photo belongs", "G", True),
            ("Gold: the chosen photo does not belong", "Shift+G", False),
            ("The chosen photo is not gold", "Del", None),
        ):
            # the photos take these keys themselves
            add(title, key, partial(self._on_lead, partial(lead.mark_gold, yes)), owner=screen, bind=False)
        add("Take the last gold mark back", "Ctrl+Z", partial(self._on_lead, self._undo), owner=screen, bind=False)
        undo = QShortcut(QKeySequence("Ctrl+Z"), lead)
        undo.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        undo.activated.connect(self._undo)

    def _on_lead(self, call: Callable[[], object]) -> None:
        """Gold and predictions are the lead's alone: on an annotator's page these commands do nothing."""
        if self._lead.isVisible():
            call()

    def _undo(self) -> None:
        self._shell.say("The last gold mark is taken back" if self.work.undo_gold() else "Nothing to take back")

    def _switch(self) -> None:
        self._lead.show_side(LEARNING)
        self._lead.learning.setup.switch.click()

    def _show_settings(self, settings: LearningSettings | None, runs: tuple[int, ...]) -> None:
        self._lead.learning.setup.show_settings(settings, runs)
        self._lead.learning.show_on(settings is not None)

    def _choose(self, settings: LearningSettings | None) -> None:
        self._lead.learning.show_on(settings is not None)
        self.work.choose(settings)
