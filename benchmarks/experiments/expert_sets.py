"""Items with features and a crowd that labels them, for experiments with classifiers that learn from experts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.evaluation.label_simulation import Codes, Floats

TEN_WORKERS: tuple[float, ...] = (0.95, 0.92, 0.90, 0.5, 0.5, 0.5, 0.5, 0.5, 0.15, 0.20)
"""Three experts, five spammers, two adversaries."""

# Sides of a drawn sign, and of what it is drawn on.
_SIDE = 8
_KINDS = 10


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """Items with features and a known class.

    Parameters
    ----------
    name
        What it is called.
    X : ndarray of shape (N, D)
        Features.
    truth : ndarray of shape (N,)
        1 for yes, 0 for no.
    side
        Of square images whose pixels the features are; 0 for other features.
    scale
        Whether features are to be brought to one scale.
    """

    name: str
    X: Floats
    truth: Codes
    side: int = 0
    scale: bool = True


@dataclass(frozen=True, slots=True)
class LearnedClasses:
    """What was learned.

    Parameters
    ----------
    test : ndarray of shape (M,)
        Probability of yes of new items.
    train : ndarray of shape (N,)
        Probability of yes of those that were learned from.
    expertise, spread : ndarray of shape (R,)
        How often each worker is thought to be right, and the standard deviation; empty where nobody asks.
    seconds
        Processor time.
    """

    test: Floats
    train: Floats
    expertise: Floats
    spread: Floats
    seconds: float


class CrowdLearner(Protocol):
    """A classifier that learns from a crowd, by the name of the method."""

    def __call__(self, train: FeatureSet, said: Codes, test: Floats, method: str, seed: int) -> LearnedClasses:
        """Learn and predict.

        Parameters
        ----------
        train
            Items; their truth is for the method `gold` alone.
        said : ndarray of shape (N, R)
            Labels: 1, -1, or 0 where nobody was asked.
        test : ndarray of shape (M, D)
            Features to predict from.
        method
            Which.
        seed
            Of what it draws.
        """
        ...


def drawn_signs(count: int, seed: int) -> FeatureSet:
    """Small pictures of ten signs, each drawn askew and with noise; yes for every other sign.

    Parameters
    ----------
    count
        Pictures.
    seed
        Of signs and pictures.
    """
    rng = np.random.default_rng([seed, 77])
    points = rng.uniform(0.8, _SIDE - 1.8, (_KINDS, 5, 2))
    kind = rng.integers(0, _KINDS, count)
    grid = np.stack(np.meshgrid(np.arange(_SIDE), np.arange(_SIDE), indexing="ij"), axis=-1).astype(np.float64)
    pictures = np.zeros((count, _SIDE, _SIDE))
    bent = points[kind] + rng.normal(0.0, 0.45, (count, 5, 2)) + rng.normal(0.0, 0.35, (count, 1, 2))
    for part in np.linspace(0.0, 1.0, 7):
        for stroke in range(4):
            at = bent[:, stroke] * (1.0 - part) + bent[:, stroke + 1] * part
            away = np.square(grid[None] - at[:, None, None, :]).sum(axis=-1)
            np.maximum(pictures, np.exp(-away), out=pictures)
    pictures += rng.normal(0.0, 0.08, pictures.shape)
    return FeatureSet("signs", pictures.reshape(count, -1), (kind % 2).astype(np.int64), _SIDE, scale=False)


def split(items: FeatureSet, train: int, rng: np.random.Generator) -> tuple[FeatureSet, FeatureSet]:
    """So many random items to learn from, and all others to test with."""
    order = rng.permutation(len(items.X))
    first, rest = order[:train], order[train:]
    return rows_of(items, first), rows_of(items, rest)


def rows_of(items: FeatureSet, rows: Codes) -> FeatureSet:
    """Some of the items, in this order."""
    return replace(items, X=items.X[rows], truth=items.truth[rows])


def answers(truth: Codes, workers: tuple[float, ...], rng: np.random.Generator) -> Codes:
    """What everybody would say of everything: 1 or -1; shape (N, R)."""
    right = rng.random((len(truth), len(workers))) < np.array(workers)
    clean = (2 * truth - 1)[:, None]
    return np.where(right, clean, -clean)


def asked(said: Codes, share: float, rng: np.random.Generator) -> Codes:
    """Keep each label with this probability; 0 where it is gone."""
    return said * (rng.random(said.shape) < share)


def copies(items: FeatureSet, count: int, rng: np.random.Generator) -> FeatureSet:
    """So many slightly different copies of items: pictures shifted by a pixel at most, and noise on all."""
    rows = np.arange(count) % len(items.X)
    X = items.X[rows]
    if items.side:
        X = _shifted(X.reshape(count, items.side, items.side), rng).reshape(count, -1)
    noise = 0.1 if items.side else 0.1 * items.X.std(axis=0)
    return replace(items, X=X + rng.normal(0.0, 1.0, X.shape) * noise, truth=items.truth[rows])


def _shifted(pictures: Floats, rng: np.random.Generator) -> Floats:
    moves = rng.integers(-1, 2, (len(pictures), 2))
    padded = np.pad(pictures, ((0, 0), (1, 1), (1, 1)))
    side = pictures.shape[1]
    found = np.empty_like(pictures)
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            chosen = (moves == (down, right)).all(axis=1)
            found[chosen] = padded[chosen, 1 - down : 1 - down + side, 1 - right : 1 - right + side]
    return found


def right_share(probability: Floats, truth: Codes) -> float:
    """Share of items whose more probable class is the true one; a tie is half right."""
    said = np.sign(np.round(probability - 0.5, 12))
    return float(np.where(said == 0, 0.5, said == 2 * truth - 1).mean()) if len(truth) else float("nan")


def negative_log(probability: Floats, truth: Codes) -> float:
    """Mean negative log probability of the truth."""
    of_truth = np.where(truth == 1, probability, 1.0 - probability)
    return float(-np.log(np.clip(of_truth, 1e-12, 1.0)).mean())


def kinds_of(workers: tuple[float, ...]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Who is an expert, a spammer, an adversary; shape (R,) each."""
    skill = np.array(workers)
    return skill >= 0.8, np.abs(skill - 0.5) < 0.1, skill <= 0.3
