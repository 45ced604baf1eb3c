"""Whether two items go together as often as a fit says, on invented campaigns of all kinds whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.battery_kinds import KINDS, NO_TRUTH, invent
from benchmarks.experiments.results import ExperimentResult, ResultSheet, Watch, curve, curves
from crowdclust_app.domain.plots import Curves
from crowdclust_app.inference.crowdclustering.model.canonical_order import ordered
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers
from crowdclust_app.inference.crowdclustering.selection.curve import Work
from crowdclust_app.inference.crowdclustering.selection.partitioning import partition_items

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

TRIALS = ("row", "kind", "seed", "items", "responses", "together", "probability", "highest")
FIGURES = ("row", "campaigns", "together", "probability", "error", "error_of_one_partition", "highest")
BINS = ("row", "from", "to", "pairs", "probability", "together")

N_BINS = 10
# Pairs of a campaign that count, so that no large one decides.
PAIRS = 4000
FOLDS = 5

WITH_TRUTH = tuple(kind for kind in KINDS if kind not in ("noise", "continuum", "plane", "oneresponse"))


def _all(answers: Answers, _: np.random.Generator) -> Bools:
    return np.ones(answers.size, dtype=np.bool_)


def _some(many: int) -> Callable[[Answers, np.random.Generator], Bools]:
    """Only so many responses."""
    return lambda answers, rng: rng.permutation(answers.size) < many


def _one_worker(answers: Answers, rng: np.random.Generator) -> Bools:
    return np.asarray(answers.workers == rng.choice(answers.workers))


def _twice(answers: Answers, rng: np.random.Generator) -> Bools:
    """So few responses that each item is in two on average."""
    return np.asarray(rng.permutation(answers.size) < max(3, 2 * answers.n_items / answers.sizes.mean()))


ROWS: dict[str, tuple[Sequence[str], Callable[[Answers, np.random.Generator], Bools]]] = {
    "one response": (WITH_TRUTH, _some(1)),
    "one worker": (WITH_TRUTH, _one_worker),
    "five responses": (WITH_TRUTH, _some(5)),
    "sparse": (WITH_TRUTH, _twice),
    "dense": (WITH_TRUTH, _all),
    "sets of 3 to 100": (("triples", "sparse", "twelve", "cardsort", "hundred"), _all),
    "small clusters": (("smallones", "zipf", "singles", "cardsort", "twelve"), _all),
}
"""What is tried: kinds of campaigns, and which of their responses are kept."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is tried: how many campaigns a row, and which rows."""

    campaigns: int
    rows: tuple[str, ...] = tuple(ROWS)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of items of one campaign: chance to go together, the same by one partition alone, whether they do."""

    chance: Floats
    of_one_partition: Floats
    together: Floats


def pairs_of(answers: Answers, truth: Ints, seed: int) -> Pairs:
    """Fit, and hold the chance of pairs of items that occur against the truth.

    The chance of two items is the mean of each one's with the other's cluster.
    """
    found = partition_items(answers, None, FOLDS, 1, seed, Work())
    known = np.flatnonzero((found.partition >= 0) & (truth != NO_TRUTH))
    first, second = np.triu_indices(len(known), 1)
    if len(first) > PAIRS:
        kept = np.random.default_rng(seed).choice(len(first), PAIRS, replace=False)
        first, second = first[kept], second[kept]
    i, j = known[first], known[second]

    def of_pairs(table: Floats) -> Floats:
        return np.asarray((table[i, found.partition[j]] + table[j, found.partition[i]]) / 2.0)

    return Pairs(of_pairs(found.chances), of_pairs(found.independent), (truth[i] == truth[j]).astype(np.float64))


def reliability(chance: Floats, together: Floats, weight: Floats) -> list[tuple[float, float, float, float, float]]:
    """Bins of equal width that have pairs: from, to, their share, mean chance, share that goes together."""
    number = np.minimum((chance * N_BINS).astype(np.int64), N_BINS - 1)
    found = []
    for n in np.unique(number).tolist():
        here, weights = number == n, weight[number == n]
        means = (float(np.average(values[here], weights=weights)) for values in (chance, together))
        found.append((n / N_BINS, (n + 1) / N_BINS, float(weights.sum() / weight.sum()), *means))
    return found


def calibration_error(chance: Floats, together: Floats, weight: Floats) -> float:
    """Expected calibration error: mean distance of chance and share that goes together, over the pairs' bins."""
    return sum(share * abs(said - right) for _, _, share, said, right in reliability(chance, together, weight))


def run_calibration(settings: Calibration, watch: Watch) -> ExperimentResult:
    """Fit campaigns of all kinds, whole and in part, and hold the chances of pairs against the truth.

    Parameters
    ----------
    settings
        What is tried. Campaigns have odd seeds, on which no constant was set, and count alike.
    watch
        Is told before each fit.
    """
    trials: list[tuple[Any, ...]] = []
    figures, bins, lines = [], [], [curve("as it should be", (0.0, 1.0), (0.0, 1.0))]
    total = settings.campaigns * len(settings.rows)
    for row in settings.rows:
        kinds, choose = ROWS[row]
        found: list[Pairs] = []
        for n in range(settings.campaigns):
            kind, seed = kinds[n % len(kinds)], 2 * n + 1
            watch.at(len(trials), total, f"{row}: {kind}, seed {seed}")
            case = invent(kind, seed)
            order = ordered(case.table)
            truth = np.empty_like(case.truth)
            truth[order.item_at] = case.truth
            answers = Answers.of(order.table)
            answers = answers.take(choose(answers, np.random.default_rng(seed)))
            pairs = pairs_of(answers, truth, seed)
            if len(pairs.chance):
                found.append(pairs)
                means = float(pairs.together.mean()), float(pairs.chance.mean()), float(pairs.chance.max())
                trials.append((row, kind, seed, int(answers.shown.sum()), answers.size, *means))
        chance, alone, together = (
            np.concatenate([getattr(pairs, name) for pairs in found])
            for name in ("chance", "of_one_partition", "together")
        )
        weight = np.concatenate([np.full(len(pairs.chance), 1.0 / len(pairs.chance)) for pairs in found])
        averages = float(np.average(together, weights=weight)), float(np.average(chance, weights=weight))
        errors = calibration_error(chance, together, weight), calibration_error(alone, together, weight)
        figures.append((row, len(found), *averages, *errors, float(chance.max())))
        of_row = reliability(chance, together, weight)
        bins += [(row, *one) for one in of_row]
        lines.append(curve(row, (one[3] for one in of_row), (one[4] for one in of_row)))
    return ExperimentResult(
        ResultSheet("trials", TRIALS, tuple(trials)),
        ResultSheet("calibration", FIGURES, tuple(figures)),
        (_panel(lines),),
        (ResultSheet("bins", BINS, tuple(bins)),),
    )


def _panel(lines: list[Any]) -> Curves:
    title = "Do two items go together as often\nas said? (nearer the straight line is better)"
    return curves(title, "chance that they go together", "share of pairs that do", lines)
