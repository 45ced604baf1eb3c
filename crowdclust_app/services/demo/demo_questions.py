"""The demo's question set: does a picture really belong to a cluster, asked of some of those who sorted.

Three of them answer with care and often, one says yes to everything, one at random. The set holds pictures that do not
belong, and a third of its answers is left for whoever opens the demo.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.questions import AnswerKind, QuestionSet
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.progress_report import Progress, ProgressReport
from crowdclust_app.services.verify.interview import Interview, make_question_set

if TYPE_CHECKING:
    import numpy as np


CAREFUL = ("By height 1", "By height 2", "By colour 1")
YES_TO_ALL, AT_RANDOM = "All in one group", "At random"
ACCURACY = 0.93
# Pictures of other clusters among those of the one that is asked about, and answers to each picture.
STRANGERS, WANTED = 12, 4
SECONDS = 1.8


def ask_in_demo(
    campaign: Campaign,
    run: Run,
    truth: Mapping[str, str],
    seed: int,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> QuestionSet:
    """Make a question set about the first cluster of a run, and have two thirds of it answered.

    Parameters
    ----------
    truth
        What each picture shows, by its name.

    Raises
    ------
    Cancelled
        When asked to stop.
    """
    rng = np.random.default_rng([seed, 12])
    labels = run.result.labels
    inside = np.flatnonzero(labels == 1)
    outside = np.flatnonzero(labels != 1)
    others = rng.choice(outside, STRANGERS, replace=False) if len(outside) >= STRANGERS else outside
    # the run's items are the campaign's, in their order
    category = truth[run.item_names[int(inside[0])]]
    size, colour = category.split()
    chosen = rng.permutation(np.concatenate([inside, others])).tolist()
    sentence = f"Is this {size} and {colour}?"
    asked = make_question_set(campaign, sentence, chosen, wanted=WANTED, seed=seed, run=run.number, cluster=1)
    interview = Interview(campaign, asked)
    known = {worker.name: worker for worker in campaign.workers()}
    people = [known[name] for name in (*CAREFUL, YES_TO_ALL, *CAREFUL, AT_RANDOM)]
    total = 2 * asked.labels_planned // 3
    for turn in range(total):
        if cancel:
            cancel.check()
        worker = people[turn % len(people)]
        question = interview.next_question(worker)
        assert question is not None, "the set asks for more answers than people have"
        belongs = truth[run.item_names[question.item]] == category
        seconds = SECONDS * float(rng.lognormal(0.0, 0.3))
        interview.answer(worker, question.item, _says(worker.name, belongs, rng), round(seconds, 1))
        if progress:
            progress(ProgressReport(turn + 1, total, f"{worker.name} answers"))
    return asked


def _says(name: str, belongs: bool, rng: np.random.Generator) -> AnswerKind:
    chance = float(rng.random())
    if name == YES_TO_ALL:
        yes = True
    elif name == AT_RANDOM:
        yes = chance < 0.5
    else:
        yes = belongs == (chance < ACCURACY)
    return AnswerKind.YES if yes else AnswerKind.NO
