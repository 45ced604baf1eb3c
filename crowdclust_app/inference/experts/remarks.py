"""What the lead should know about a fit of the Gaussian process, in plain sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdclust_app.inference.aggregators.label_table import Codes, LabelTable
from crowdclust_app.inference.experts.features import MIRRORED, ONE_CLASS, SIGN, SURE_OF_SIGN, remarks_on

FEW_EACH = 5
FEW_GOLD = 5

GOLD_UNUSED = "gold items were not used, since there are no features"
NOTHING = "nobody has labelled anything yet: every item has an even chance"
GOLD_CONTRADICTS = (
    "by the gold items most answers are the opposite of the truth: check that the gold items are marked the right way"
)
SAME_FEATURES = "all items have the same features, which cannot help"
PUBLISHED_RULE = "the active set was chosen by the published rule, which suits labels that are nearly all right"


@dataclass(frozen=True, slots=True)
class FitFacts:
    """What sentences are about.

    Parameters
    ----------
    table
        The labels.
    gold_rows, gold_codes
        The gold items.
    honesty
        `sum_j logit eps_j`.
    mirrored
        Whether label switching was undone.
    converged, iterations
        How the fit ended.
    same_features
        Whether all items look the same.
    published_rule
        Whether the active set was chosen by the rule for labels that are nearly all right.
    """

    table: LabelTable
    gold_rows: Codes
    gold_codes: Codes
    honesty: float
    mirrored: bool
    converged: bool
    iterations: int
    same_features: bool
    published_rule: bool


def remarks(facts: FitFacts) -> list[str]:
    """All sentences that apply, the most important first."""
    if not facts.table.n_labels and not len(facts.gold_rows):
        return [NOTHING]
    return [*_of_labels(facts), *_of_the_sign(facts), *_of_workers(facts), *_of_the_fit(facts)]


def _of_labels(facts: FitFacts) -> list[str]:
    found = remarks_on(facts.table, has_features=True)
    if len(np.unique(np.concatenate([facts.table.label, facts.gold_codes]))) > 1:
        # gold items of the other class count as well
        only = {ONE_CLASS.format(label=value) for value in facts.table.classes}
        found = [sentence for sentence in found if sentence not in only]
    return found


def _of_the_sign(facts: FitFacts) -> list[str]:
    count = len(facts.gold_rows)
    if count:
        several = "is only one gold item" if count == 1 else f"are only {count} gold items"
        found = [f"there {several}: mark {FEW_GOLD} or more to be safe"] if count < FEW_GOLD else []
        return [GOLD_CONTRADICTS, *found] if facts.honesty < -SURE_OF_SIGN else found
    found = []
    if facts.table.n_labels and abs(facts.honesty) < SURE_OF_SIGN:
        found.append(SIGN)
    if facts.mirrored:
        found.append(MIRRORED)
    return found


def _of_workers(facts: FitFacts) -> list[str]:
    counts = facts.table.worker_counts
    little = int(((counts > 0) & (counts < FEW_EACH)).sum())
    if not little:
        return []
    who = "one worker has" if little == 1 else f"{little} workers have"
    theirs = "the expertise shown is" if little == 1 else "their expertise is"
    return [f"{who} given fewer than {FEW_EACH} labels: {theirs} mostly what is believed of anybody"]


def _of_the_fit(facts: FitFacts) -> list[str]:
    found = []
    if facts.same_features:
        found.append(SAME_FEATURES)
    if facts.published_rule:
        found.append(PUBLISHED_RULE)
    if not facts.converged:
        found.append(f"did not converge in {facts.iterations} steps")
    return found
