"""The words of verification: yes/no questions about single items, and what is said to them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

LONGEST_SENTENCE = 300


class AnswerKind(StrEnum):
    """What a worker does with a question."""

    YES = "yes"
    NO = "no"
    SKIP = "skip"


class Policy(StrEnum):
    """Which question is asked next (manino2019, section 2.2)."""

    UNIFORM = "uniform"
    UNCERTAINTY = "uncertainty"


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """One sentence that is asked about a number of items.

    Parameters
    ----------
    number
        Counts from 1.
    sentence
        "Does this belong to the cluster?"
    items
        Item numbers, in the order of the set; a task is a position in it.
    wanted
        Labels planned for each item: exactly so many under uniform sampling, on average under uncertainty sampling.
    policy, seed
        How the next question is chosen.
    run, cluster
        The cluster of a run that is verified; None for a question about anything else.
    method
        The aggregator whose verdict counts.
    """

    number: int
    sentence: str
    items: tuple[int, ...]
    wanted: int
    policy: Policy
    seed: int
    run: int | None
    cluster: int | None
    method: str
    created_at: datetime

    @property
    def labels_planned(self) -> int:
        """Labels in all, `T = R M` of the paper."""
        return self.wanted * len(self.items)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a worker said about an item and did not take back.

    Parameters
    ----------
    number
        Number of the event; answers are in this order.
    item, worker
        Their numbers in the campaign.
    seconds
        From seeing the photo to answering.
    """

    number: int
    item: int
    worker: int
    said: AnswerKind
    at: datetime
    seconds: float
