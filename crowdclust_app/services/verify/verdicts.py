"""What the answers to a question set amount to: aggregators side by side, photos sorted by verdict, workers, cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.methods import verify_names
from crowdclust_app.domain.questions import Answer, AnswerKind, Policy, QuestionSet
from crowdclust_app.inference.aggregators import Aggregator, encode_labels, method_named
from crowdclust_app.sampling.expected_error import uncertainty_bound, uniform_bound
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.progress_report import Progress, ProgressReport
from crowdclust_app.services.verify.interview import PREVALENCE, PRIOR, answers, question_set, question_sets

IN, OUT, UNDECIDED = "in", "out", "undecided"
DECIDED_AT = 0.8
"""A photo is verified in, or out, when that is at least as probable as this; a majority decides at more than half."""
_VOTES = "majority"
# Items that belong, and as many that do not, which the estimated share of those that belong begins from; of so many
# answered items they change nothing.
_MORE, _MANY = 5.0, 10_000
# Where a worker has more answers than these it takes half a minute, and is not among the others.
_SLOW, _MOST_ANSWERS = "bp2", 20_000
CLASSES = (AnswerKind.NO.value, AnswerKind.YES.value)


@dataclass(frozen=True, slots=True)
class WorkerReliability:
    """How a worker answers, as one method sees it.

    Parameters
    ----------
    number, name
        Of the campaign.
    labels
        Answers.
    sensitivity, specificity
        Posterior means of saying yes to what belongs, and no to what does not.
    sensitivity_sd, specificity_sd
        Standard deviations of the Beta posteriors.
    """

    number: int
    name: str
    labels: int
    sensitivity: float
    sensitivity_sd: float
    specificity: float
    specificity_sd: float


@dataclass(frozen=True, slots=True)
class MethodVerdicts:
    """What one aggregator makes of the answers.

    Parameters
    ----------
    probability : ndarray of shape (M,)
        Of yes, by position in the set; NaN for an item without answers.
    expected_error
        Share of the items with answers that the method itself expects to have on the wrong side.
    workers
        Everybody with answers, by number.
    decided_at
        Probability from which an item is decided.
    """

    method: str
    probability: NDArray[np.float64]
    expected_error: float
    workers: tuple[WorkerReliability, ...]
    seconds: float
    converged: bool
    decided_at: float = DECIDED_AT

    def has(self, verdict: str) -> NDArray[np.bool_]:
        """Whether each item has this verdict: `in`, `out` or `undecided`; shape (M,)."""
        inside, outside = self.probability >= self.decided_at, self.probability <= 1.0 - self.decided_at
        return {IN: inside, OUT: outside, UNDECIDED: ~(inside | outside)}[verdict]

    def count(self, verdict: str) -> int:
        """How many items have this verdict."""
        return int(self.has(verdict).sum())

    def verdict(self, position: int) -> str:
        """The verdict on one item."""
        p = self.probability[position]
        return IN if p >= self.decided_at else OUT if p <= 1.0 - self.decided_at else UNDECIDED


@dataclass(frozen=True, slots=True)
class Verification:
    """A question set with everything its answers say.

    Parameters
    ----------
    yes, no, skips : ndarray of shape (M,)
        Answers by position in the set.
    methods
        Those that were asked for and can be applied.
    answers, names
        What was said, and the workers' names by number.
    labels, workers
        Answers (skips are none) and people who answered.
    seconds
        Time spent on answers.
    bound, bound_now
        Share of wrong verdicts by Theorem 1 or 2 at the planned labels and at those so far, up to a constant; None
        before the first answer.
    """

    question_set: QuestionSet
    yes: NDArray[np.int64]
    no: NDArray[np.int64]
    skips: NDArray[np.int64]
    methods: tuple[MethodVerdicts, ...]
    answers: tuple[Answer, ...]
    names: Mapping[int, str]
    labels: int
    workers: int
    seconds: float
    bound: float | None
    bound_now: float | None

    def method(self, name: str) -> MethodVerdicts | None:
        """What this method says, if it was run."""
        return next((method for method in self.methods if method.method == name), None)

    def who_said(self, position: int) -> tuple[tuple[str, AnswerKind], ...]:
        """Everybody who answered about this item, with what they said, oldest first."""
        item = self.question_set.items[position]
        return tuple(
            (self.names.get(answer.worker, str(answer.worker)), answer.said)
            for answer in self.answers
            if answer.item == item
        )

    @property
    def disputed(self) -> tuple[int, ...]:
        """Positions with answers of both kinds, the most evenly divided first."""
        found = np.flatnonzero((self.yes > 0) & (self.no > 0))
        share = np.abs(self.yes[found] / (self.yes[found] + self.no[found]) - 0.5)
        return tuple(found[np.lexsort((found, -(self.yes + self.no)[found], share))].tolist())

    @property
    def agreed(self) -> tuple[int, ...]:
        """Positions on which two or more people say the same, yes before no, the most answers first."""
        total = self.yes + self.no
        found = np.flatnonzero((total >= 2) & ((self.yes == 0) | (self.no == 0)))
        return tuple(found[np.lexsort((found, -total[found], self.yes[found] == 0))].tolist())

    def with_verdict(self, method: str, verdict: str) -> tuple[int, ...]:
        """Positions with this verdict of a method; the surest first, of the undecided the most even."""
        found = self.method(method)
        if found is None:
            return ()
        positions = np.flatnonzero(found.has(verdict))
        p = found.probability[positions]
        doubt = np.nan_to_num(np.abs(p - 0.5) if verdict == UNDECIDED else np.minimum(p, 1.0 - p), nan=2.0)
        return tuple(positions[np.lexsort((positions, doubt))].tolist())


def look_at_answers(
    campaign: Campaign,
    number: int,
    methods: Sequence[str] | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> Verification:
    """Aggregate the answers to a question set.

    Parameters
    ----------
    methods
        Names of aggregators, those of the Verify screen when None; one that cannot be applied to these answers, or not
        within reasonable time, is left out.

    Raises
    ------
    UserError
        When there is no such set.
    Cancelled
        When `cancel` says so.
    """
    asked = question_set(campaign, number)
    names = {worker.number: worker.name for worker in campaign.workers()}
    return verify(asked, answers(campaign, number), names, methods, progress, cancel)


def verify(
    asked: QuestionSet,
    given: Sequence[Answer],
    names: Mapping[int, str],
    methods: Sequence[str] | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> Verification:
    """Aggregate answers that are in memory; `names` has the workers' by number. Otherwise as `look_at_answers`."""
    position = {item: place for place, item in enumerate(asked.items)}
    counts = {said: np.zeros(len(asked.items), dtype=np.int64) for said in AnswerKind}
    for answer in given:
        counts[answer.said][position[answer.item]] += 1
    labels = [answer for answer in given if answer.said is not AnswerKind.SKIP]
    most = max(Counter(answer.worker for answer in labels).values(), default=0)
    methods = verify_names() if methods is None else methods
    chosen = [name for name in methods if name != _SLOW or most <= _MOST_ANSWERS or asked.method == _SLOW]
    found = []
    for done, name in enumerate(chosen if labels else ()):
        if cancel is not None:
            cancel.check()
        if progress is not None:
            progress(ProgressReport(done, len(chosen), f"Aggregating by {name}"))
        fitted = _fit(name, labels, cancel)
        if fitted is not None:
            found.append(_verdicts(fitted, asked, position, names))
    workers = len({answer.worker for answer in labels})
    return Verification(
        question_set=asked,
        yes=counts[AnswerKind.YES],
        no=counts[AnswerKind.NO],
        skips=counts[AnswerKind.SKIP],
        methods=tuple(found),
        answers=tuple(given),
        names=names,
        labels=len(labels),
        workers=workers,
        seconds=sum(answer.seconds for answer in given),
        bound=_bound(asked, asked.labels_planned, workers),
        bound_now=_bound(asked, len(labels), workers),
    )


def verified_items(campaign: Campaign, run: Run, cancel: CancelToken | None = None) -> dict[str, str]:
    """What verification says of the items of a run's clusters, by the item's name.

    An item is in it when a question set about its own cluster of this run has answers about it; of several sets the
    newest counts.
    """
    verified: dict[str, str] = {}
    labels = run.result.labels
    items = campaign.items()
    number_in_run = {name: number for number, name in enumerate(run.item_names)}
    for info in question_sets(campaign):
        asked = info.question_set
        if asked.run != run.number or not info.labels:
            continue
        outcome = look_at_answers(campaign, asked.number, (asked.method,), cancel=cancel)
        found = outcome.method(asked.method)
        if found is None:
            continue
        for place, item in enumerate(asked.items):
            name = items[item].path
            number = number_in_run.get(name)
            in_cluster = number is not None and run.result.shown[number] and labels[number] == asked.cluster
            if in_cluster and outcome.yes[place] + outcome.no[place]:
                verified[name] = found.verdict(place)
    return verified


def fit_answers(name: str, labels: Sequence[Answer], cancel: CancelToken | None = None) -> Aggregator:
    """Fit one aggregator to answers; tasks are item numbers, workers are worker numbers, `no` comes before `yes`.

    How many belong is estimated: of a good cluster nearly all do, and a method that has to believe in halves takes its
    workers for liars. The estimate is that of the answered items and of ten more, five that belong and five that do
    not, so that the first few answers, all yes, do not make every next photo belong. Streaming knows no such thing
    before the answers have come; it stays what chooses the next question.

    Raises
    ------
    UserError
        When the method cannot be applied to these answers.
    """
    table = encode_labels(
        np.array([answer.item for answer in labels], dtype=np.int64),
        np.array([answer.worker for answer in labels], dtype=np.int64),
        [answer.said.value for answer in labels],
        classes=CLASSES,
    )
    method = method_named(name)(prior=PRIOR, prevalence="auto", classes=CLASSES)
    if "order" in method.get_params():
        return method.set_params(order="arrival", prevalence=PREVALENCE).fit_encoded(table, cancel=cancel)
    method.fit_encoded(table, cancel=cancel)
    if name != _VOTES and table.n_tasks < _MANY:
        belonging = (float(method.prevalence_[1]) * table.n_tasks + _MORE) / (table.n_tasks + 2 * _MORE)
        method.set_params(prevalence=belonging).fit_encoded(table, cancel=cancel)
    return method


def _fit(name: str, labels: Sequence[Answer], cancel: CancelToken | None) -> Aggregator | None:
    try:
        return fit_answers(name, labels, cancel)
    except UserError:
        return None


def _verdicts(
    fitted: Aggregator, asked: QuestionSet, position: Mapping[int, int], names: Mapping[int, str]
) -> MethodVerdicts:
    probability = np.full(len(asked.items), np.nan)
    places = np.array([position[int(task)] for task in fitted.tasks_], dtype=np.int64)  # type: ignore[call-overload]
    probability[places] = fitted.probabilities_[:, 1]
    doubt = np.minimum(probability[places], 1.0 - probability[places])
    workers = [
        WorkerReliability(
            number=int(worker),  # type: ignore[call-overload]
            name=names.get(int(worker), str(worker)),  # type: ignore[call-overload]
            labels=int(fitted.worker_label_counts_[row]),
            sensitivity=float(fitted.sensitivity_[row]),
            sensitivity_sd=float(fitted.sensitivity_sd_[row]),
            specificity=float(fitted.specificity_[row]),
            specificity_sd=float(fitted.specificity_sd_[row]),
        )
        for row, worker in enumerate(fitted.workers_)
    ]
    return MethodVerdicts(
        method=fitted.name,
        probability=probability,
        expected_error=float(doubt.mean()),
        workers=tuple(workers),
        seconds=fitted.seconds_,
        converged=fitted.converged_,
        decided_at=float(np.nextafter(0.5, 1.0)) if fitted.name == _VOTES else DECIDED_AT,
    )


def _bound(asked: QuestionSet, labels: int, workers: int) -> float | None:
    """The theorem that the policy has, for this many labels shared by these workers."""
    if not workers:
        return None
    bound = uniform_bound if asked.policy is Policy.UNIFORM else uncertainty_bound
    return bound(labels / len(asked.items), max(1.0, labels / workers), *PRIOR)
