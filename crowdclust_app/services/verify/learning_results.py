"""What was learnt from the answers to a question set, for a screen, and the choice of the next question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.questions import QuestionSet
from crowdclust_app.inference.experts.next_question import best_items, entropy
from crowdclust_app.services.verify.features import Aligned, FeatureTable
from crowdclust_app.services.verify.learning_settings import LearningSettings
from crowdclust_app.services.verify.verdicts import DECIDED_AT, IN, OUT, UNDECIDED

# A worker without answers: the prior of the Gaussian process, Beta(3, 2), mode and standard deviation.
_NEWCOMER, _NEWCOMER_SD = 2 / 3, 0.2
_LEAST = 1e-3
# Two standard deviations, for an interval where there is no better one.
_TWO = 1.96


@dataclass(frozen=True, slots=True)
class NextQuestion:
    """A question worth asking.

    Parameters
    ----------
    item, worker
        Numbers in the campaign.
    probability
        Of yes, as it is believed now.
    entropy_bits, information_bits
        How uncertain that is, and how much of it this worker's answer is expected to take away.
    ahead
        Items that this worker will probably be asked about next.
    """

    item: int
    worker: int
    probability: float
    entropy_bits: float
    information_bits: float
    ahead: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LearntWorker:
    """What is believed of a worker.

    Parameters
    ----------
    number, name
        Of the campaign.
    labels
        Answers.
    sensitivity, specificity, sensitivity_sd, specificity_sd
        The point `(1 - specificity, sensitivity)` and the half-axes of its one-standard-deviation ellipse.
    expertise, expertise_sd, interval
        How often they are right, with standard deviation and 95 % interval.
    """

    number: int
    name: str
    labels: int
    sensitivity: float
    sensitivity_sd: float
    specificity: float
    specificity_sd: float
    expertise: float
    expertise_sd: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Learnt:
    """What was learnt from the answers to a question set.

    Parameters
    ----------
    items
        Of the set, in its order.
    probability : ndarray of shape (M,)
        Of yes, for every item.
    asked : ndarray of shape (M,)
        Whether anybody has answered; the others are predictions alone.
    labels : ndarray of shape (M,)
        Answers.
    gold : ndarray of shape (M,)
        Items whose answer is known.
    others
        Probability of yes for items of the campaign that are not in the set.
    workers
        Everybody with answers.
    noise
        Share of labels that are off whoever gives them; None where the method has none.
    honesty
        Sum of the log-odds of the workers being right; below 2 the opposite of everything is nearly as likely.
    warnings
        Sentences.
    left_out
        Photos that could not be read, with the reason.
    features, source
        How many, and where from.
    answers
        Answers that it rests on.
    stamp
        Which answers and gold items those are.
    """

    settings: LearningSettings
    items: tuple[int, ...]
    probability: NDArray[np.float64]
    asked: NDArray[np.bool_]
    labels: NDArray[np.int64]
    gold: NDArray[np.bool_]
    others: Mapping[int, float]
    workers: tuple[LearntWorker, ...]
    noise: float | None
    honesty: float
    warnings: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    features: int
    source: str
    seconds: float
    converged: bool
    answers: int
    stamp: tuple[int, ...]
    decided_at: float = field(default=DECIDED_AT)

    @property
    def method(self) -> str:
        """What learnt it: `gp` or `experts`."""
        return self.settings.method

    def verdict(self, position: int) -> str:
        """The verdict on one item of the set."""
        p = self.probability[position]
        return IN if p >= self.decided_at else OUT if p <= 1.0 - self.decided_at else UNDECIDED

    def count(self, verdict: str) -> int:
        """How many items of the set have this verdict."""
        inside = int((self.probability >= self.decided_at).sum())
        outside = int((self.probability <= 1.0 - self.decided_at).sum())
        return {IN: inside, OUT: outside}.get(verdict, len(self.items) - inside - outside)

    def choose(
        self, workers: tuple[int, ...], asked: NDArray[np.bool_], labels: NDArray[np.int64], ahead: int
    ) -> NextQuestion | None:
        """Choose item and worker (docs/experts.md, section 9).

        Parameters
        ----------
        workers
            Numbers of those who are there.
        asked : ndarray of shape (M, W)
            What each of them is not to be asked (again).
        labels : ndarray of shape (M,)
            Answers until now.
        ahead
            How many more items to name.
        """
        open_ = ~asked.all(axis=1)
        if not open_.any():
            return None
        p = self.probability
        fresh = open_ & (labels == 0)
        candidates = np.flatnonzero(fresh if fresh.any() else open_)
        item = int(best_items(p, candidates, 1)[0])
        hits, rejections = self._coins(workers)
        information = np.where(asked[item], -1.0, _information(p[item], hits, rejections))
        who = int(np.round(information, 12).argmax())
        # what this worker can be asked afterwards
        theirs = candidates[~asked[candidates, who]]
        following = best_items(p, theirs, ahead + 1).tolist()
        return NextQuestion(
            item=self.items[item],
            worker=workers[who],
            probability=float(p[item]),
            entropy_bits=float(entropy(p[item : item + 1])[0]),
            information_bits=float(max(information[who], 0.0)),
            ahead=tuple(self.items[other] for other in following if other != item)[:ahead],
        )

    def _coins(self, workers: tuple[int, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sensitivity and specificity at their best: one standard deviation further from one half."""
        known = {worker.number: worker for worker in self.workers}
        found = []
        for number in workers:
            one = known.get(number)
            if one is None:
                found.append([(_NEWCOMER, _NEWCOMER_SD)] * 2)
            elif self.noise is not None:
                found.append([(one.expertise, one.expertise_sd)] * 2)
            else:
                found.append([(one.sensitivity, one.sensitivity_sd), (one.specificity, one.specificity_sd)])
        values = np.array(found)
        mean, spread = values[..., 0], values[..., 1]
        best = np.clip(np.where(mean >= 0.5, mean + spread, mean - spread), _LEAST, 1.0 - _LEAST)
        return best[:, 0], best[:, 1]


def _information(p: float, hits: NDArray[np.float64], rejections: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bits that an answer by two coins is expected to tell; with equal coins as in docs/experts.md, section 9."""
    said = p * hits + (1.0 - p) * (1.0 - rejections)
    return np.asarray(np.maximum(entropy(said) - p * entropy(hits) - (1.0 - p) * entropy(rejections), 0.0))


def describe(
    model: Any,
    settings: LearningSettings,
    asked: QuestionSet,
    aligned: Aligned,
    features: FeatureTable,
    stamp: tuple[int, ...],
    people: Mapping[int, str],
    number_of: Mapping[str, int],
    gold: Mapping[int, bool],
) -> Learnt:
    """Put a fitted learner into the words of a question set, whose items are the first rows of the fit.

    Parameters
    ----------
    people
        Names by worker's number.
    number_of
        Item numbers by name.
    gold
        Gold items.
    """
    count = len(asked.items)
    yes = np.asarray(model.probabilities_[:, 1])
    labels = np.asarray(model.label_counts_[:count])
    others = {
        number_of[str(name)]: float(p)
        for name, p in zip(aligned.items[count:], yes[count:].tolist(), strict=True)
        if str(name) in number_of
    }
    return Learnt(
        settings=settings,
        items=asked.items,
        probability=np.where(np.isfinite(yes[:count]), yes[:count], 0.5),
        asked=labels > 0,
        labels=labels,
        gold=np.array([item in gold for item in asked.items], dtype=bool),
        others=others,
        workers=tuple(_worker(model, row, people) for row in range(len(model.workers_))),
        noise=getattr(model, "noise_", None),
        honesty=float(model.honesty_),
        warnings=(*model.warnings_, *(note for note in aligned.notes if " is left out: " not in note)),
        left_out=features.left_out,
        features=aligned.X.shape[1],
        source=features.source,
        seconds=float(model.seconds_),
        converged=bool(model.converged_),
        answers=int(labels.sum()),
        stamp=stamp,
    )


def _worker(model: Any, row: int, people: Mapping[int, str]) -> LearntWorker:
    number = int(str(model.workers_[row]))
    expertise, spread = float(model.accuracy_[row]), float(model.accuracy_sd_[row])
    interval = (max(0.0, expertise - _TWO * spread), min(1.0, expertise + _TWO * spread))
    if hasattr(model, "expertise_interval_"):
        expertise, spread = float(model.expertise_[row]), float(model.expertise_sd_[row])
        low, high = model.expertise_interval_[row]
        interval = float(low), float(high)
    return LearntWorker(
        number=number,
        name=people.get(number, str(number)),
        labels=int(model.worker_label_counts_[row]),
        sensitivity=float(model.sensitivity_[row]),
        sensitivity_sd=float(model.sensitivity_sd_[row]),
        specificity=float(model.specificity_[row]),
        specificity_sd=float(model.specificity_sd_[row]),
        expertise=expertise,
        expertise_sd=spread,
        interval=interval,
    )
