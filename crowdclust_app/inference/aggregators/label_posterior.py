"""The posterior of the tasks' classes, how settings become numbers, and how probabilities become labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.label_table import Codes, Floats

Ties = Literal["undecided", "random", "prior"]
TIES: tuple[Ties, ...] = get_args(Ties)
Prior = tuple[float, float] | Mapping[float, float]
Prevalence = float | Sequence[float] | Literal["auto", "even"] | None
UNDECIDED = -1
SETTLED = 1e-18
"""A smaller change of a task's probability is none: a million of them are lost in a count of right labels."""
# Log-probabilities this close are equal: the rounding of sums taken in another order stays far below.
_EQUAL = 1e-9
# Classes up to which numpy adds up a row one after another.
_FEW = 8


@dataclass
class LabelPosterior:
    """The posterior of the tasks' classes, and what else a method found.

    Parameters
    ----------
    log_probabilities : ndarray of shape (M, K)
        Normalised, in log space.
    prevalence : ndarray of shape (K,)
        Share of each class, as set or estimated.
    extras
        Further fitted fields of this method by name (ending in `_`).
    notes
        Sentences the user should read.
    """

    log_probabilities: Floats
    prevalence: Floats
    extras: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class ChosenLabels(NamedTuple):
    """Labels chosen from a posterior.

    Parameters
    ----------
    codes : ndarray of shape (M,)
        Class of each task; -1 where undecided.
    ties : ndarray of shape (M,)
        Labelled tasks whose best classes are equally probable.
    tied_classes : ndarray of shape (M, K)
        The best classes of each task.
    """

    codes: Codes
    ties: NDArray[np.bool_]
    tied_classes: NDArray[np.bool_]


def decide(posterior: LabelPosterior, labelled: NDArray[np.bool_], ties: Ties, seed: int) -> ChosenLabels:
    """Choose a label a task; none where there is no label, or by the policy for ties.

    Parameters
    ----------
    posterior
        The posterior.
    labelled : ndarray of shape (M,)
        Which tasks have labels.
    ties
        The policy.
    seed
        For the policy `random`.
    """
    logs = posterior.log_probabilities
    best = logs >= logs.max(axis=1, keepdims=True) - _EQUAL
    tied = (best.sum(axis=1) > 1) & labelled
    codes = np.where(labelled & ~tied, logs.argmax(axis=1), UNDECIDED)
    rows = np.flatnonzero(tied)
    if ties == "random" and len(rows):
        draws = np.random.default_rng(seed).random((len(rows), logs.shape[1]))
        codes[rows] = np.where(best[rows], draws, -1.0).argmax(axis=1)
    elif ties == "prior" and len(rows):
        weight = np.where(best[rows], np.log(np.maximum(posterior.prevalence, 1e-300)), -np.inf)
        one = (weight >= weight.max(axis=1, keepdims=True) - _EQUAL).sum(axis=1) == 1
        codes[rows] = np.where(one, weight.argmax(axis=1), UNDECIDED)
    return ChosenLabels(codes, tied, best)


def check_prior(prior: Prior, takes_discrete: bool, name: str) -> None:
    """Refuse what is no prior, or none that the method `name` can use.

    Raises
    ------
    InvalidInputError
        Saying what is wrong with it.
    """
    if isinstance(prior, Mapping):
        if not takes_discrete:
            raise InvalidInputError(f"{name} takes a Beta prior only", todo="give two numbers such as 2,1, or take bp")
        shares = list(prior.values())
        good = bool(shares) and all(0 <= p <= 1 for p in prior) and all(w >= 0 for w in shares)
        if not good or not math.isclose(sum(shares), 1.0, abs_tol=1e-9):
            raise InvalidInputError(
                "the discrete prior is not a distribution", todo="give accuracies with shares of sum 1"
            )
        return
    try:
        alpha, beta = (float(number) for number in prior)
    except (TypeError, ValueError):
        raise InvalidInputError(f"the prior {prior!r} is not two numbers", todo="give two such as 2,1") from None
    if not (0 < alpha < math.inf and 0 < beta < math.inf):
        raise InvalidInputError(f"the prior {alpha:g},{beta:g} is not above 0", todo="give two numbers such as 2,1")


def prevalence_of(setting: Prevalence, count: int) -> Floats:
    """Turn a prevalence setting into a distribution over `count` classes (`auto` starts from even).

    Raises
    ------
    InvalidInputError
        When it is not a distribution over that many classes.
    """
    if setting is None or isinstance(setting, str):
        if setting not in (None, "auto", "even"):
            raise InvalidInputError(
                f"the prevalence {setting!r} is unknown", todo="take auto, even or a number like 0.5"
            )
        return np.full(count, 1.0 / count)
    if isinstance(setting, Sequence | np.ndarray):
        shares = np.asarray(setting, dtype=np.float64)
    elif count == 2:
        shares = np.array([1.0 - float(setting), float(setting)])
    elif float(setting) == 0.5:
        # one half is what two classes have when nothing is known; of more it says the same
        shares = np.full(count, 1.0 / count)
    else:
        what = f"the prevalence {setting:g} is of two classes and the labels have {count}"
        raise InvalidInputError(what, todo="take auto or even")
    if shares.shape != (count,) or not (shares > 0).all() or not math.isclose(float(shares.sum()), 1.0, abs_tol=1e-9):
        raise InvalidInputError("the prevalence is not between 0 and 1", todo="take auto, even or a number like 0.5")
    return shares


def log_odds_to_log_probabilities(log_odds: Floats) -> Floats:
    """Turn log-odds of the second class, shape (M,), into normalised log-probabilities, shape (M, 2)."""
    return np.stack([-np.logaddexp(0.0, log_odds), -np.logaddexp(0.0, -log_odds)], axis=1)


def normalise(logs: Floats) -> tuple[Floats, Floats]:
    """Normalise rows in log space.

    Returns
    -------
    tuple of ndarray
        Normalised log-probabilities of shape (M, K), and the log normalisers of shape (M,).
    """
    if logs.shape[1] < _FEW:
        # numpy goes through short rows ten times slower than through columns; the sums are the same to the last bit
        first, *others = logs.T
        largest = first
        for column in others:
            largest = np.maximum(largest, column)
        power = np.exp(first - largest)
        for column in others:
            power += np.exp(column - largest)
    else:
        largest = logs.max(axis=1)
        power = np.exp(logs - largest[:, None]).sum(axis=1)
    total = largest + np.log(power)
    return logs - total[:, None], total
