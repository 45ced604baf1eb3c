"""Agreement on pair labels before any model: mean pairwise agreement and Krippendorff's alpha.

The units are pairs of items that at least two workers have judged, the values "same" and "apart". A worker's first
judgement of a pair counts. The labels of one HIT are not independent, so the bootstrap draws HITs: every unit belongs
to the HIT in which it was judged first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.response_table import ResponseTable

ROUNDS = 1000
LEVEL = 0.95
MOST_LABELS = 4_000_000
FEWEST_HITS = 5
"""HITs under which an interval would say nothing."""


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Agreement between workers, with bootstrap intervals of `LEVEL`.

    Parameters
    ----------
    pairs
        Pairs of items that two workers or more have judged.
    judgements
        Labels of those.
    hits
        HITs that the pairs come from.
    agreement
        Share of the comparisons of two workers about one pair in which both say the same.
    alpha
        Krippendorff's: 1 is complete agreement, 0 what chance gives; None where all labels are equal, which leaves
        nothing to agree about.
    agreement_interval, alpha_interval
        None with fewer than `FEWEST_HITS` HITs.
    share
        Share of the responses that were looked at; below 1 in campaigns of very many labels.
    """

    pairs: int
    judgements: int
    hits: int
    agreement: float
    alpha: float | None
    agreement_interval: tuple[float, float] | None
    alpha_interval: tuple[float, float] | None
    share: float = 1.0


def pair_agreement(
    table: ResponseTable, seed: int = 0, most_labels: int = MOST_LABELS, cancel: CancelToken | None = None
) -> PairAgreement | None:
    """How far workers agree on which items go together.

    Parameters
    ----------
    table
        The responses.
    seed
        Of the bootstrap, and of which HITs are looked at where there are too many labels.
    most_labels
        About how many pair labels are looked at.
    cancel
        Looked at between steps.

    Returns
    -------
    PairAgreement or None
        None where no pair was judged by two workers.

    Raises
    ------
    Cancelled
        When asked to stop.
    """
    rng = np.random.default_rng(seed)
    looked = _some_hits(table, most_labels, rng)
    key, worker, same, hit = _judgements(looked, cancel)
    if cancel:
        cancel.check()
    unit, home, worker, same = _units(key, worker, same, hit)
    judged = np.bincount(unit)
    together = np.bincount(unit, weights=same)
    several = judged > 1
    if not several.any():
        return None
    m, s = judged[several].astype(np.float64), together[several]
    # by home HIT: units' disagreement (Krippendorff's), judgements, "same" among them, agreeing and all comparisons
    parts = np.stack(
        [2.0 * s * (m - s) / (m - 1.0), m, s, (s * (s - 1.0) + (m - s) * (m - s - 1.0)) / 2.0, m * (m - 1.0) / 2.0]
    )
    where = np.unique(home[several], return_inverse=True)[1].ravel()
    sums = np.stack([np.bincount(where, weights=part) for part in parts], axis=1)
    whole = sums.sum(axis=0, keepdims=True)
    agreement, alpha = _figures(whole)
    intervals: list[tuple[float, float] | None] = [None, None]
    if len(sums) >= FEWEST_HITS:
        drawn = rng.multinomial(len(sums), np.full(len(sums), 1.0 / len(sums)), size=ROUNDS)
        tails = (0.5 - LEVEL / 2.0, 0.5 + LEVEL / 2.0)
        for place, values in enumerate(_figures(drawn.astype(np.float64) @ sums)):
            values = values[np.isfinite(values)]
            if len(values):
                low, high = np.quantile(values, tails)
                intervals[place] = (float(low), float(high))
    known = bool(np.isfinite(alpha[0]))
    return PairAgreement(
        pairs=int(several.sum()),
        judgements=int(m.sum()),
        hits=len(sums),
        agreement=float(agreement[0]),
        alpha=float(alpha[0]) if known else None,
        agreement_interval=intervals[0],
        alpha_interval=intervals[1] if known else None,
        share=looked.n_responses / max(table.n_responses, 1),
    )


def self_agreement(table: ResponseTable, root: NDArray[np.int64]) -> NDArray[np.float64]:
    """How far workers agree with themselves where they sorted one HIT twice.

    Parameters
    ----------
    table
        The responses.
    root : ndarray of shape (R,)
        A number that is equal for the responses to a HIT and to its repeats.

    Returns
    -------
    ndarray of shape (J, 2)
        Pairs of items that a worker judged in two responses of one root, and how many of them were judged alike; each
        response is compared with the worker's one before.
    """
    figures = np.zeros((table.n_workers, 2))
    order = np.lexsort((np.arange(table.n_responses), root, table.worker_of_response))
    for before, after in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        worker = int(table.worker_of_response[after])
        if worker == table.worker_of_response[before] and root[before] == root[after]:
            figures[worker] += _compared(table, before, after)
    return figures


def _compared(table: ResponseTable, before: int, after: int) -> tuple[float, float]:
    """Pairs of items in both responses, and how many of them are judged alike, by the contingency of the groups."""
    spans = [slice(int(table.response_ptr[r]), int(table.response_ptr[r + 1])) for r in (before, after)]
    items, others = (table.items[span] for span in spans)
    _, first, second = np.intersect1d(items, others, assume_unique=True, return_indices=True)
    one, other = table.groups[spans[0]][first], table.groups[spans[1]][second]
    n = len(one)
    if n < 2:
        return 0.0, 0.0

    def pairs(labels: NDArray[np.int64]) -> float:
        counts = np.unique(labels, return_counts=True)[1]
        return float((counts * (counts - 1) / 2).sum())

    total = n * (n - 1) / 2
    both = pairs(one * (int(other.max()) + 1) + other)
    return total, total - pairs(one) - pairs(other) + 2 * both


def _some_hits(table: ResponseTable, most_labels: int, rng: np.random.Generator) -> ResponseTable:
    """Whole HITs drawn at random, until there are so many labels."""
    if table.n_pair_labels <= most_labels:
        return table
    order = rng.permutation(len(table.hit_names))
    labels = np.bincount(
        table.hit_of_response, weights=table.sizes * (table.sizes - 1) / 2, minlength=len(table.hit_names)
    )
    kept = order[np.cumsum(labels[order]) <= most_labels]
    return table.take(np.flatnonzero(np.isin(table.hit_of_response, kept)))


def _judgements(
    table: ResponseTable, cancel: CancelToken | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Pair of items, worker, 1 for "same", and HIT of every label."""
    keys, same = [np.zeros(0, np.int64)], [np.zeros(0)]
    counts = np.zeros(table.n_responses, dtype=np.int64)
    corners: dict[int, tuple[NDArray[np.intp], NDArray[np.intp]]] = {}
    for r in range(table.n_responses):
        if cancel and r % 500 == 0:
            cancel.check()
        span = slice(int(table.response_ptr[r]), int(table.response_ptr[r + 1]))
        items, groups = table.items[span], table.groups[span]
        if len(items) not in corners:
            first, second = np.triu_indices(len(items), 1)
            corners[len(items)] = (first, second)
        first, second = corners[len(items)]
        low, high = np.minimum(items[first], items[second]), np.maximum(items[first], items[second])
        keys.append(low * table.n_items + high)
        same.append((groups[first] == groups[second]).astype(np.float64))
        counts[r] = len(first)
    worker = np.repeat(table.worker_of_response, counts)
    hit = np.repeat(table.hit_of_response, counts)
    return np.concatenate(keys), worker, np.concatenate(same), hit


def _units(
    key: NDArray[np.int64], worker: NDArray[np.int64], same: NDArray[np.float64], hit: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Number the pairs, keep each worker's first judgement; unit, home HIT of each unit, worker, "same"."""
    order = np.lexsort((worker, key))  # stable: the first judgement stays the first
    key, worker, same = key[order], worker[order], same[order]
    hit = hit[order]
    fresh = np.ones(len(key), dtype=bool)
    fresh[1:] = (key[1:] != key[:-1]) | (worker[1:] != worker[:-1])
    key, worker, same, hit, order = key[fresh], worker[fresh], same[fresh], hit[fresh], order[fresh]
    starts = np.ones(len(key), dtype=bool)
    starts[1:] = key[1:] != key[:-1]
    unit = np.cumsum(starts) - 1
    # the HIT of the judgement that came first of all
    home = np.zeros(int(starts.sum()), dtype=np.int64)
    if len(key):
        earliest = np.minimum.reduceat(order, np.flatnonzero(starts))
        home = hit[np.flatnonzero(order == earliest[unit])]
    return unit, home, worker, same


def _figures(sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Agreement and alpha of each row of sums; NaN where there is none."""
    disagreed, n, same, agreed, compared = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = 2.0 * same * (n - same) / (n - 1.0)
        return agreed / compared, np.where(expected > 0, 1.0 - disagreed / expected, np.nan)
