"""The lead's decisions about the clusters on screen: carried out one after the other, undone and done again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from crowdclust_app.domain.decisions import Decision
from crowdclust_app.gui.screen import Shell
from crowdclust_app.gui.wording import capitalised
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters import categories as decided
from crowdclust_app.services.clusters.categories import Categories, in_words, read_categories, to_undo
from crowdclust_app.services.clusters.category_rows import Arrangement, arrange
from crowdclust_app.services.clusters.run_view import RunView

Change = Callable[["Campaign", Categories], Categories]


class ClusterDecisions(QObject):
    """Names, merges, moves and splits, each stored before it is shown.

    Signals
    -------
    changed
        `arrangement` is another now.
    """

    changed = Signal()

    def __init__(self, shell: Shell, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shell = shell
        self._campaign: Campaign | None = None
        self._view: RunView | None = None
        self._undone: list[Decision] = []
        self.arrangement: Arrangement | None = None

    @property
    def categories(self) -> Categories | None:
        """Names, merges and moves as they stand."""
        return self.arrangement.categories if self.arrangement is not None else None

    def show(self, campaign: Campaign | None, view: RunView | None, arrangement: Arrangement | None) -> None:
        """Decide about the clusters of this run from now on."""
        before = self.categories
        if before is None or arrangement is None or before.run != arrangement.categories.run:
            self._undone = []
        self._campaign, self._view, self.arrangement = campaign, view, arrangement

    # --- what the lead does

    def rename(self, place: int, name: str) -> None:
        """Name the category of a place."""
        self._carry_out(lambda campaign, now: decided.rename(campaign, now, place, name))

    def merge(self, places: Sequence[int]) -> None:
        """Make one category of these."""
        self._carry_out(lambda campaign, now: decided.merge(campaign, now, places))

    def take_apart(self, place: int) -> None:
        """Take a cluster out of its category."""
        self._carry_out(lambda campaign, now: decided.take_apart(campaign, now, place))

    def move(self, items: Sequence[str], place: int) -> None:
        """Put photos into the category of a place; 0 puts them back."""
        self._carry_out(lambda campaign, now: decided.move(campaign, now, items, place))

    def split_off(self, items: Sequence[str], then: Callable[[], None] | None = None) -> None:
        """Make a category of these photos."""
        self._carry_out(lambda campaign, now: decided.split_off(campaign, now, items), then=then)

    def undo(self) -> None:
        """Take the newest decision back."""
        if self.categories is None or to_undo(self.categories) is None:
            self._shell.say("There is nothing to undo")
            return
        taken: list[Decision] = []

        def work(campaign: Campaign, now: Categories) -> Categories:
            last = to_undo(now)
            after = decided.undo(campaign, now)
            taken.extend([last] if last is not None else [])
            return after

        def said(now: Categories) -> str:
            self._undone += taken
            return f"Undone: {in_words(now, taken[0])}" if taken else ""

        self._carry_out(work, said=said)

    def redo(self) -> None:
        """Do once more what was taken back last."""
        if not self._undone:
            self._shell.say("There is nothing to do again")
            return
        decision = self._undone.pop()
        self._carry_out(
            lambda campaign, now: decided.again(campaign, now, decision),
            said=lambda now: f"Done again: {in_words(now, decision)}",
        )

    def _carry_out(
        self, change: Change, said: Callable[[Categories], str] | None = None, then: Callable[[], None] | None = None
    ) -> None:
        campaign, view, before = self._campaign, self._view, self.categories
        if campaign is None or view is None or before is None:
            return
        run, n_clusters = before.run, before.n_clusters
        own = said is None

        def work(_progress: object, _cancel: object) -> Arrangement:
            # read in the job: an earlier change may still wait for the database's thread when this one is made
            return arrange(view, change(campaign, read_categories(campaign, run, n_clusters)))

        def done(arrangement: Arrangement) -> None:
            if self.categories is None or self.categories.run != run:
                return
            decisions, now = len(self.categories.decisions), arrangement.categories
            self.arrangement = arrangement
            if own:
                self._undone = []
                newest = now.decisions[-1] if len(now.decisions) > decisions else None
                words = in_words(now, newest) if newest is not None else ""
                self._shell.say(capitalised(words))
            elif said is not None:
                self._shell.say(said(now))
            self.changed.emit()
            if then is not None:
                then()

        self._shell.jobs.start("database", work, on_done=done, on_failed=self._shell.show_failure, owner=self)
