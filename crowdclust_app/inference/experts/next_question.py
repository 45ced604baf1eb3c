"""What to ask next, and whom: the least certain item, and the worker who tells most (docs/experts.md, section 9)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.inference.aggregators.label_table import Codes, Floats

# Probabilities and scores closer than this are equal; the first of them is taken.
_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class QuestionChoice:
    """A question worth asking.

    Parameters
    ----------
    item, worker
        Names.
    entropy
        How uncertain the item's label is, in bits.
    information
        How much of that this worker's answer is expected to take away, in bits.
    """

    item: Hashable
    worker: Hashable
    entropy: float
    information: float


def entropy(probability: Floats) -> Floats:
    """Entropy of a yes/no question in bits; same shape."""
    p = np.clip(probability, 0.0, 1.0)
    q = 1.0 - p
    with np.errstate(divide="ignore", invalid="ignore"):
        found = -np.where(p > 0, p * np.log2(p), 0.0) - np.where(q > 0, q * np.log2(q), 0.0)
    return np.asarray(found)


def expected_information(probability: Floats, expertise: Floats) -> Floats:
    """What an answer tells about the label: `H2(p eps + (1 - p)(1 - eps)) - H2(eps)`, in bits.

    Parameters
    ----------
    probability
        Of yes.
    expertise
        Of who is asked; broadcast against the probability.
    """
    yes = probability * expertise + (1.0 - probability) * (1.0 - expertise)
    return np.maximum(entropy(yes) - entropy(expertise), 0.0)


def worker_scores(expertise: Floats, spread: Floats, honest_only: bool) -> Floats:
    """Score workers optimistically: newcomers get a try, and a worker who is always wrong counts as a skilled one.

    Parameters
    ----------
    expertise, spread : ndarray of shape (R,)
        Estimate and standard deviation.
    honest_only
        Whether those who are wrong more often than right are to come last.
    """
    return expertise + spread if honest_only else np.abs(expertise - 0.5) + spread


def best_items(probability: Floats, candidates: Codes, count: int) -> Codes:
    """The least certain of the candidates, the lower number first among equals; shape (count,) at most."""
    certainty = np.round(np.abs(probability[candidates] - 0.5), _DECIMALS)
    return candidates[np.lexsort((candidates, certainty))[:count]]


def best_workers(expertise: Floats, spread: Floats, honest_only: bool) -> Codes:
    """Workers by `worker_scores`, the highest first, the lower number first among equals; shape (R,)."""
    score = np.round(worker_scores(expertise, spread, honest_only), _DECIMALS)
    return np.argsort(-score, kind="stable")


def choose(
    probability: Floats, candidates: Codes, expertise: Floats, spread: Floats, asked: NDArray[np.bool_],
    honest_only: bool,
) -> tuple[int, int] | None:  # fmt: skip
    """Choose item and worker.

    Parameters
    ----------
    probability : ndarray of shape (N,)
        Of yes.
    candidates : ndarray of shape (C,)
        Items that may be asked about.
    expertise, spread : ndarray of shape (W,)
        Of the workers who are there.
    asked : ndarray of shape (C, W)
        Who has answered what already.
    honest_only
        As in `worker_scores`.

    Returns
    -------
    (item, worker) or None
        Numbers; None when every worker has labelled every candidate.
    """
    open_ = ~asked.all(axis=1)
    if not open_.any() or not len(expertise):
        return None
    item = int(best_items(probability, candidates[open_], 1)[0])
    free = ~asked[np.flatnonzero(candidates == item)[0]]
    score = np.round(np.where(free, worker_scores(expertise, spread, honest_only), -np.inf), _DECIMALS)
    return item, int(score.argmax())
