"""How a question set learns from its images, and which of its items are gold: what the lead decides about it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.methods import names_of
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.decisions import decide, standing, take_back
from crowdclust_app.services.progress_report import Progress
from crowdclust_app.services.verify import features
from crowdclust_app.services.verify.features import FeatureTable
from crowdclust_app.services.verify.interview import question_set
from crowdclust_app.storage import catalogue, questions

PHOTOS, RUN, TABLE, MODEL = "photos", "run", "table", "model"
SOURCES = (PHOTOS, RUN, TABLE, MODEL)
GOLD = "gold"


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """How answers are learnt from.

    Parameters
    ----------
    method
        `gp` or `experts`.
    source
        Where features come from: `photos` (colours and edges), `run` (the crowd's positions), `table` (a
        features.csv), `model` (an ONNX file).
    run
        Number of the run, for `run`.
    path
        The file, for `table` and `model`.
    """

    method: str = "gp"
    source: str = PHOTOS
    run: int | None = None
    path: str | None = None

    def __post_init__(self) -> None:
        learners = names_of("learner")
        if self.method not in learners:
            raise UserError(f"there is no learner {self.method}", todo=f"take one of {', '.join(learners)}")
        if self.source not in SOURCES:
            raise UserError(f"there are no features from {self.source}", todo=f"take one of {', '.join(SOURCES)}")
        if (self.run is None) == (self.source == RUN):
            raise UserError("features from a run need the run's number", todo="choose a run, or the photos")
        if (self.path is None) == (self.source in (TABLE, MODEL)):
            raise UserError("features from a table or a model need the file", todo="choose a file, or the photos")

    @property
    def source_key(self) -> tuple[str, int | None, str | None]:
        """Settings with the same key have the same features."""
        return self.source, self.run, self.path

    def load(self, campaign: Campaign, progress: Progress | None, cancel: CancelToken | None) -> FeatureTable:
        """Get the features of the campaign's items.

        Raises
        ------
        UserError
            When they cannot be had.
        Cancelled
            When `cancel` says so.
        """
        if self.source == RUN:
            assert self.run is not None
            return features.features_from_run(campaign, self.run)
        if self.source == TABLE:
            return features.features_from_file(Path(str(self.path)))
        model = Path(str(self.path)) if self.source == MODEL else None
        return features.features_from_photos(
            features.photos_of(campaign), model=model, progress=progress, cancel=cancel
        )


def learning_of(campaign: Campaign, number: int) -> LearningSettings | None:
    """How a question set learns; None where it does not.

    Raises
    ------
    UserError
        When what is stored is of a program that knew more.
    """
    with campaign.database.read() as connection:
        text = questions.learning(connection, number)
    if text is None:
        return None
    try:
        stored: dict[str, Any] = json.loads(text)
        return LearningSettings(**stored)
    except (TypeError, ValueError) as error:
        what = "how this question set learns was written by another version of the program"
        raise UserError(what, where=str(campaign.path), todo="switch learning on anew") from error


def set_learning(campaign: Campaign, number: int, settings: LearningSettings | None) -> None:
    """Switch learning on, with these settings, or off."""
    text = None if settings is None else json.dumps(asdict(settings), ensure_ascii=False)
    with campaign.database.write() as connection:
        questions.set_learning(connection, number, text)
        catalogue.bump_revision(connection)


def gold_of(campaign: Campaign, number: int) -> dict[int, bool]:
    """The gold items of a question set: whether each belongs, by item number."""
    return {item: yes for item, (yes, _) in _marked(campaign, number).items()}


def mark_gold(campaign: Campaign, number: int, item: int, yes: bool) -> None:
    """Say that it is known of an item whether it belongs; what was said of it before is taken back.

    Raises
    ------
    UserError
        When the item is not in the question set.
    """
    if item not in question_set(campaign, number).items:
        raise UserError(f"photo {item} is not in this question set", todo="choose one that is")
    before = gold_of(campaign, number).get(item)
    if before is yes:
        return
    if before is not None:
        unmark_gold(campaign, number, item)
    decide(campaign, GOLD, {"question_set": number, "item": item, "yes": yes})


def unmark_gold(campaign: Campaign, number: int, item: int) -> bool:
    """Take back that an item is gold; whether it was."""
    found = _marked(campaign, number).get(item)
    if found is not None:
        take_back(campaign, found[1])
    return found is not None


def _marked(campaign: Campaign, number: int) -> dict[int, tuple[bool, int]]:
    """The decision in force on each gold item, and its number."""
    found = {}
    for decision in standing(campaign, GOLD):
        if decision.detail.get("question_set") == number:
            found[int(decision.detail["item"])] = bool(decision.detail["yes"]), decision.number
    return found
