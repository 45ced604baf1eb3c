"""Verification that learns from the images: predictions for every photo, and the most informative question.

A desk keeps the features of a question set's photos and what was last learnt from its answers. Learning runs in the
background; the next question is a choice over arrays and comes at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.questions import AnswerKind, QuestionSet
from crowdclust_app.inference.aggregators import FitStep, LabelTable
from crowdclust_app.inference.experts import GaussianProcessExperts, Learner
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.progress_report import Progress, ProgressReport
from crowdclust_app.services.verify.features import Aligned, FeatureTable, align_features
from crowdclust_app.services.verify.interview import question_set
from crowdclust_app.services.verify.learner_fits import fit_learner, make_learner
from crowdclust_app.services.verify.learning_results import Learnt, NextQuestion, describe
from crowdclust_app.services.verify.learning_settings import (
    LearningSettings,
    gold_of,
    learning_of,
    mark_gold,
    set_learning,
    unmark_gold,
)
from crowdclust_app.storage import questions
from crowdclust_app.storage.connection import Connection

__all__ = [
    "ActiveLearning",
    "LearningSettings",
    "Learnt",
    "NextQuestion",
    "gold_of",
    "learning_of",
    "mark_gold",
    "set_learning",
    "unmark_gold",
]

# Questions whose pictures are loaded ahead.
_AHEAD = 3
_PARTS = 1000


class _Log:
    """The answers in force of a question set, read from the file event by event; for one thread at a time."""

    def __init__(self, asked: QuestionSet) -> None:
        self._number = asked.number
        self._position = {item: place for place, item in enumerate(asked.items)}
        self.labels = np.zeros(len(asked.items), dtype=np.int64)
        self.had: dict[int, set[int]] = {}
        # position, worker and what was said, by event, oldest first
        self.standing: dict[int, tuple[int, int, str]] = {}
        self.last = 0

    def catch_up(self, connection: Connection) -> None:
        """Take in the events that are new."""
        for event in questions.events_after(connection, self._number, self.last):
            self.last = event.number
            if event.undoes is None:
                place = self._position[event.item]
                self.standing[event.number] = place, event.worker, event.kind
                self.labels[place] += event.kind != AnswerKind.SKIP
                self.had.setdefault(event.worker, set()).add(place)
            elif event.undoes in self.standing:
                place, worker, kind = self.standing.pop(event.undoes)
                self.labels[place] -= kind != AnswerKind.SKIP
                self.had[worker].discard(place)

    def answers(self) -> list[tuple[int, int, bool]]:
        """Position, worker and whether it was yes, without skips."""
        return [
            (place, worker, kind == AnswerKind.YES)
            for place, worker, kind in self.standing.values()
            if kind != AnswerKind.SKIP
        ]


class ActiveLearning:
    """Learns from the answers to one question set; safe to use from several threads.

    Parameters
    ----------
    campaign, number
        The question set.

    Raises
    ------
    UserError
        When there is no such set.
    """

    def __init__(self, campaign: Campaign, number: int) -> None:
        self.question_set = question_set(campaign, number)
        self._campaign = campaign
        self._position = {item: place for place, item in enumerate(self.question_set.items)}
        self._working = threading.Lock()
        self._reading = threading.Lock()
        self._log = _Log(self.question_set)
        self._learnt: Learnt | None = None
        self._model: Learner | None = None
        self._features: tuple[LearningSettings, FeatureTable] | None = None

    @property
    def learnt(self) -> Learnt | None:
        """What was last learnt; None before the first `refresh`."""
        return self._learnt

    def stale(self) -> bool:
        """Whether answers, gold items or settings have changed since the last `refresh`, or there was none."""
        learnt = self._learnt
        if learnt is None:
            return True
        number = self.question_set.number
        changed = learning_of(self._campaign, number) != learnt.settings
        return changed or self._stamp() != learnt.stamp

    def refresh(self, progress: Progress | None = None, cancel: CancelToken | None = None) -> Learnt:
        """Learn from all answers so far; to be called in the background.

        Parameters
        ----------
        progress, cancel
            As everywhere.

        Returns
        -------
        Learnt
            Also in `learnt` from then on; when it fails or is cancelled, what was learnt before stays.

        Raises
        ------
        UserError
            When learning is switched off, there is nothing to learn from, or the features cannot be had.
        Cancelled
            When `cancel` says so.
        """
        with self._working:
            settings = learning_of(self._campaign, self.question_set.number)
            if settings is None:
                raise UserError("learning from images is switched off here", todo="switch it on")
            stamp = self._stamp()
            features = self._features_of(settings, progress, cancel)
            learnt, model = self._learn(settings, features, stamp, progress, cancel)
            self._learnt, self._model = learnt, model
        return learnt

    def next_question(self, workers: Sequence[int]) -> NextQuestion | None:
        """The least certain photo, for the most informative worker present (docs/experts.md, section 9).

        Photos that no worker was asked about come first. A worker is never asked again what they answered or skipped;
        gold items are not asked.

        Parameters
        ----------
        workers
            Numbers of those who are there.

        Returns
        -------
        NextQuestion or None
            None when the labels that were planned are there, nothing is left for these workers, or nothing was learnt.
        """
        learnt = self._learnt
        if learnt is None or not workers:
            return None
        gold = gold_of(self._campaign, self.question_set.number)
        asked = np.zeros((len(self.question_set.items), len(workers)), dtype=bool)
        with self._reading:
            log = self._read()
            labels = log.labels.copy()
            for column, worker in enumerate(workers):
                had = log.had.get(worker, set())
                asked[np.fromiter(had, dtype=np.int64, count=len(had)), column] = True
        if labels.sum() >= self.question_set.labels_planned:
            return None
        asked[[self._position[item] for item in gold if item in self._position]] = True
        return learnt.choose(tuple(workers), asked, labels, _AHEAD)

    def _features_of(
        self, settings: LearningSettings, progress: Progress | None, cancel: CancelToken | None
    ) -> FeatureTable:
        if self._features is None or self._features[0].source_key != settings.source_key:
            self._features = settings, settings.load(self._campaign, progress, cancel)
        return self._features[1]

    def _learn(
        self,
        settings: LearningSettings,
        features: FeatureTable,
        stamp: tuple[int, ...],
        progress: Progress | None,
        cancel: CancelToken | None,
    ) -> tuple[Learnt, Learner]:
        with self._reading:
            said = self._read().answers()
        gold = gold_of(self._campaign, self.question_set.number)
        if not said and not gold:
            raise UserError("nobody has answered yet", todo="have some photos answered, or mark some as gold")
        names = {item.number: item.path for item in self._campaign.items()}
        tasks = [names[item] for item in self.question_set.items]
        aligned = align_features(features, tasks)
        workers = tuple(sorted({worker for _, worker, _ in said}))
        row = {worker: place for place, worker in enumerate(workers)}
        columns = np.array([(place, row[worker], yes) for place, worker, yes in said], dtype=np.int64).reshape(-1, 3)
        table = LabelTable(aligned.items, workers, (AnswerKind.NO.value, AnswerKind.YES.value), *columns.T.copy())
        known = {names[item]: (AnswerKind.YES if yes else AnswerKind.NO).value for item, yes in gold.items()}
        listen = _listener(progress)
        warm = self._warm(settings, aligned)
        model: Learner
        if warm is not None:
            model = warm.update(table, gold=known, progress=listen, cancel=cancel)
        else:
            model = make_learner(settings.method, own_scale=aligned.own_scale)
            fit_learner(model, table, aligned, gold=known, progress=listen, cancel=cancel)
        people = {worker.number: worker.name for worker in self._campaign.workers()}
        number_of = {path: number for number, path in names.items()}
        learnt = describe(model, settings, self.question_set, aligned, features, stamp, people, number_of, gold)
        return learnt, model

    def _warm(self, settings: LearningSettings, aligned: Aligned) -> GaussianProcessExperts | None:
        """The Gaussian process that was learnt before from these features, to learn on; None to begin anew."""
        learnt, model = self._learnt, self._model
        if learnt is None or not isinstance(model, GaussianProcessExperts) or learnt.settings != settings:
            return None
        return model if model.items_ == aligned.items else None

    def _read(self) -> _Log:
        with self._campaign.database.read() as connection:
            self._log.catch_up(connection)
        return self._log

    def _stamp(self) -> tuple[int, ...]:
        """What the answers and gold items of now are known by."""
        with self._reading:
            last = self._read().last
        gold = gold_of(self._campaign, self.question_set.number)
        return (last, *(2 * item + yes for item, yes in sorted(gold.items())))


def _listener(progress: Progress | None) -> Callable[[FitStep], None] | None:
    if progress is None:
        return None

    def listen(step: FitStep) -> None:
        part = min(_PARTS, round(_PARTS * step.iteration / max(step.max_iterations, 1)))
        progress(ProgressReport(part, _PARTS, "learning from the answers"))

    return listen
