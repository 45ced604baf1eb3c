"""Verification as tables: labels.csv, labels_inferred.csv and reliability.csv of a campaign (docs/files.md).

Tasks are the items' names. A campaign with several question sets asks about one item more than once: then a task is
the set's number, a colon and the name, so that each table can be aggregated as it stands; the column `question` has
the sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.methods import verify_names
from crowdclust_app.domain.questions import Answer, AnswerKind, QuestionSet
from crowdclust_app.inference.aggregators import Aggregator
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.exchange.result_tables import Table
from crowdclust_app.services.verify.aggregating import INFERRED_HEADER, RELIABILITY_HEADER
from crowdclust_app.services.verify.interview import answers, question_sets
from crowdclust_app.services.verify.verdicts import fit_answers

LABELS, INFERRED, RELIABILITY = "labels.csv", "labels_inferred.csv", "reliability.csv"
QUESTION_TABLES = (LABELS, INFERRED, RELIABILITY)
LABEL_HEADER = ("task", "worker", "label", "order", "question")
_QUESTION = ("question",)


def question_tables(
    campaign: Campaign, worker_label: Callable[[str], str], cancel: CancelToken | None = None
) -> Iterator[Table]:
    """The tables that a campaign has when questions were answered.

    Parameters
    ----------
    worker_label
        How a worker is written.
    cancel
        Polled within every aggregation.
    """
    answered = _answered(campaign)
    if not answered:
        return
    names = {item.number: item.path for item in campaign.items()}
    workers = {worker.number: worker_label(worker.name) for worker in campaign.workers()}

    def task(asked: QuestionSet, item: int) -> str:
        return f"{asked.number}:{names[item]}" if len(answered) > 1 else names[item]

    yield Table(
        LABELS,
        LABEL_HEADER,
        (
            (task(asked, answer.item), workers[answer.worker], answer.said.value, answer.number, asked.sentence)
            for asked, given in answered
            for answer in given
        ),
    )
    fitted = [(asked, method) for asked, given in answered for method in _fit_all(given, cancel)]
    yield Table(
        INFERRED,
        (*INFERRED_HEADER, *_QUESTION),
        (
            (task(asked, item), label, probability, count, method.name, asked.sentence)
            for asked, method in fitted
            for item, label, probability, count in _inferred(method)
        ),
    )
    yield Table(
        RELIABILITY,
        (*RELIABILITY_HEADER, *_QUESTION),
        (
            (workers[worker], *figures, method.name, asked.sentence)
            for asked, method in fitted
            for worker, *figures in _reliabilities(method)
        ),
    )


def question_rows(campaign: Campaign) -> dict[str, int]:
    """How many rows each of these tables will have, without making them."""
    answered = _answered(campaign)
    items = sum(len({answer.item for answer in given}) for _, given in answered)
    workers = sum(len({answer.worker for answer in given}) for _, given in answered)
    return {
        LABELS: sum(len(given) for _, given in answered),
        INFERRED: items * len(verify_names()),
        RELIABILITY: workers * len(verify_names()),
    }


def _answered(campaign: Campaign) -> list[tuple[QuestionSet, list[Answer]]]:
    """Question sets with what was answered; skips are no answers."""
    found = []
    for info in question_sets(campaign):
        given = [answer for answer in answers(campaign, info.question_set.number) if answer.said is not AnswerKind.SKIP]
        if given:
            found.append((info.question_set, given))
    return found


def _fit_all(given: Sequence[Answer], cancel: CancelToken | None) -> Iterator[Aggregator]:
    for name in verify_names():
        try:
            yield fit_answers(name, given, cancel)
        except UserError:
            continue  # one that these answers do not allow


def _inferred(method: Aggregator) -> Iterator[tuple[int, str | None, float | None, int]]:
    best = method.probabilities_.max(axis=1, initial=-math.inf)
    for row, task in enumerate(method.tasks_):
        probability = float(best[row])
        label = method.labels_[row]
        count = int(method.label_counts_[row])
        yield _number(task), label, probability if math.isfinite(probability) else None, count


def _reliabilities(method: Aggregator) -> Iterator[tuple[Any, ...]]:
    columns = (
        method.accuracy_, method.sensitivity_, method.specificity_,
        method.accuracy_sd_, method.sensitivity_sd_, method.specificity_sd_,
    )  # fmt: skip
    for row, worker in enumerate(method.workers_):
        yield _number(worker), int(method.worker_label_counts_[row]), *(float(column[row]) for column in columns)


def _number(name: object) -> int:
    assert isinstance(name, int)
    return name
