"""What each worker answers for each true class: counts, their priors, and the workers' part of the objective."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.label_table import Floats, LabelTable, weighted_sums

BetaPrior = tuple[float, float]
BetaPriors = BetaPrior | Mapping[Hashable, BetaPrior]
"""One Beta prior for all workers, or one a worker (by name; the others have the common one)."""

# What is left of a prior that leaves everything open (Beta(1,1)): without it a worker who never gave an answer is
# certain never to give it, and one such certainty decides an item against all other workers.
_LEAST = 1e-3


@dataclass(frozen=True)
class Coins:
    """Priors of the workers' confusion matrices.

    Parameters
    ----------
    pseudo : ndarray of shape (J, K, K)
        Beta (Dirichlet) parameters: of worker `j`, for true class `k`, of each answer.
    """

    pseudo: Floats

    @property
    def excess(self) -> Floats:
        """What the prior adds to the counts at the mode; shape (J, K, K)."""
        return np.asarray(np.maximum(self.pseudo - 1.0, _LEAST))

    def mode(self, counts: Floats, active: NDArray[np.bool_]) -> Floats:
        """Most probable matrices, shape (J, K, K); the prior's mean for workers without labels."""
        total = counts + self.excess
        found = total / total.sum(axis=2, keepdims=True)
        mean = self.pseudo / self.pseudo.sum(axis=2, keepdims=True)
        return np.asarray(np.where(active[:, None, None], found, mean))

    def log_prior(self, matrices: Floats, active: NDArray[np.bool_]) -> float:
        """Log prior of the matrices of workers with labels, up to a constant."""
        return float((self.excess * np.log(matrices))[active].sum())


def make_coins(
    table: LabelTable, prior: BetaPrior, sensitivity: BetaPriors | None, specificity: BetaPriors | None
) -> Coins:
    """Priors of all workers: `prior` on every coin, but where sensitivity or specificity have their own.

    Raises
    ------
    InvalidInputError
        When a prior is none, or sensitivity and specificity are asked of other than two classes.
    """
    size = table.n_classes
    pseudo = np.full((table.n_workers, size, size), float(prior[1]))
    pseudo[:, np.arange(size), np.arange(size)] = float(prior[0])
    for truth, own, name in ((1, sensitivity, "sensitivity"), (0, specificity, "specificity")):
        if own is None:
            continue
        if size != 2:
            what = f"priors of {name} are for two classes and the labels have {size}"
            raise InvalidInputError(what, todo="give a prior for all answers instead")
        for row, worker in enumerate(table.workers):
            pair = own.get(worker, prior) if isinstance(own, Mapping) else own
            a, b = check_beta(pair, name)
            pseudo[row, truth, truth], pseudo[row, truth, 1 - truth] = a, b
    return Coins(pseudo)


def check_beta(pair: BetaPrior, name: str) -> tuple[float, float]:
    """Give a Beta prior as two numbers; `name` says whose it is.

    Raises
    ------
    InvalidInputError
        When it is none.
    """
    try:
        a, b = (float(number) for number in pair)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"the prior of {name} {pair!r} is not two numbers", todo="give two such as 2,2"
        ) from None
    if not (0 < a < np.inf and 0 < b < np.inf):
        raise InvalidInputError(f"the prior of {name} {a:g},{b:g} is not above 0", todo="give two numbers such as 2,2")
    return a, b


def count_answers(rows: LabelTable, posterior: Floats) -> Floats:
    """Expected number of each answer (last axis) of each worker for each true class; shape (J, K, K)."""
    size = rows.n_classes
    cells = rows.worker * size + rows.label
    counts = np.empty((rows.n_workers, size, size))
    for true in range(size):
        found = weighted_sums(cells, posterior[rows.task, true], rows.n_workers * size)
        counts[:, true, :] = found.reshape(rows.n_workers, size)
    return counts


def log_likelihoods(rows: LabelTable, matrices: Floats) -> Floats:
    """Log-probability of each task's labels given each true class; shape (M, K)."""
    size = rows.n_classes
    cells = rows.worker * size + rows.label
    logs = np.log(matrices)
    found = np.empty((rows.n_tasks, size))
    for true in range(size):
        weights = np.ascontiguousarray(logs[:, true, :]).ravel()[cells]
        found[:, true] = weighted_sums(rows.task, weights, rows.n_tasks)
    return found


def beta_moments(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of Beta distributions."""
    total = a + b
    return a / total, np.sqrt(a * b / (total * total * (total + 1.0)))
