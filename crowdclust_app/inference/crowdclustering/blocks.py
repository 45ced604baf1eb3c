"""The posterior of items and workers, and the exact updates of its blocks (crowdclustering.md, sections 3-5)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from crowdclust_app.inference.crowdclustering import kernels
from crowdclust_app.inference.crowdclustering.arrays import Floats, Ints, Judges, Scratch, Tiles
from crowdclust_app.inference.crowdclustering.data import Labels, tiles_of
from crowdclust_app.inference.crowdclustering.priors import WorkerPrior, independent_prior, shared_prior
from crowdclust_app.inference.crowdclustering.settings import Settings

# Initial variances as a share of the prior's.
INITIAL_SHARE = 0.1


def vech_table(dimensions: int) -> Ints:
    """Index of entry `(p, q)` of a symmetric matrix in its upper triangle, row by row; shape (D, D)."""
    table = np.zeros((dimensions, dimensions), dtype=np.int64)
    upper = np.triu_indices(dimensions)
    table[upper] = np.arange(len(upper[0]))
    table.T[upper] = table[upper]
    return table


def vech(matrices: Floats) -> Floats:
    """Upper triangles of symmetric matrices, row by row: (..., D, D) to (..., P)."""
    rows, columns = np.triu_indices(matrices.shape[-1])
    return np.asarray(matrices[..., rows, columns])


def unvech(vectors: Floats, dimensions: int) -> Floats:
    """Symmetric matrices from their upper triangles: (..., P) to (..., D, D)."""
    return np.asarray(vectors[..., vech_table(dimensions)])


def second_moments(mean: Floats, variance: Floats) -> Floats:
    """The matrix `R` with `E[(x_a' W x_b)^2] = Z_a' R Z_b` for `Z = vech(E[x x'])`.

    Parameters
    ----------
    mean, variance : ndarray of shape (J, D, D)
        Of the symmetric weights `W`.

    Returns
    -------
    ndarray of shape (J, P, P)
    """
    p, r = np.triu_indices(mean.shape[-1])
    # E[W_pq W_rs] over the orders of (p, r) and of (q, s); the variance counts where both entries are the same
    straight = mean[:, p[:, None], p] * mean[:, r[:, None], r]
    straight += variance[:, p[:, None], p] * _same_entry(p[:, None], p, r[:, None], r)
    crossed = mean[:, r[:, None], p] * mean[:, p[:, None], r]
    crossed += variance[:, r[:, None], p] * _same_entry(r[:, None], p, p[:, None], r)
    orders = np.where(p == r, 1.0, 2.0)
    return np.ascontiguousarray(0.5 * orders[:, None] * orders * (straight + crossed))


def _same_entry(a: Ints, b: Ints, c: Ints, d: Ints) -> Floats:
    """1 where `W_ab` and `W_cd` are one entry."""
    return np.asarray(((a == c) & (b == d)) | ((a == d) & (b == c)), dtype=np.float64)


def pair_feature_moments(gamma: Floats, dimensions: int) -> Floats:
    """`G = sum lambda E[phi phi']` from `Gamma = sum Z' Lambda Z` (section 5): (J, P, P) to (J, P, P)."""
    index = vech_table(dimensions)
    p, q = np.triu_indices(dimensions)
    first = gamma[:, index[p[:, None], p], index[q[:, None], q]]
    second = gamma[:, index[p[:, None], q], index[q[:, None], p]]
    share = np.where(p == q, 0.5, 1.0)
    return np.asarray(share[:, None] * share * (first + second))


@dataclass(slots=True)
class Beliefs:
    """Posterior of positions, weights and biases, with the tiles that follow the positions.

    Parameters
    ----------
    labels
        The responses.
    settings
        Prior variances and label weight.
    mean, variance : ndarray of shape (n, D)
        Positions of the items with labels.
    weights, weight_variances : ndarray of shape (J, D, D)
        Symmetric.
    biases, bias_variances : ndarray of shape (J,)
    prior
        Of the workers; at first the one that the settings name.
    """

    labels: Labels
    settings: Settings
    mean: Floats
    variance: Floats
    weights: Floats
    weight_variances: Floats
    biases: Floats
    bias_variances: Floats
    prior: WorkerPrior = field(init=False)
    tiles: Tiles = field(init=False)
    judges: Judges = field(init=False)
    work: Scratch = field(init=False)

    def __post_init__(self) -> None:
        D = self.settings.dimensions
        P = D * (D + 1) // 2
        self.prior = independent_prior(D, self.settings.weight_variance, self.settings.bias_variance)
        self.tiles = tiles_of(self.labels, D)
        width = int(np.diff(self.tiles.ptr).max())
        self.work = Scratch(
            curvature=np.zeros(width),
            pull=np.zeros(width),
            coefficients=np.zeros(P),
            direction=np.zeros(D),
            partners=np.zeros(P),
            pulled=np.zeros(D),
            precision=np.zeros((D, D)),
            total=np.zeros(P),
            shift=np.zeros(D),
            vech_zeros=(0.0,) * P,
            position_zeros=(0.0,) * D,
        )
        self.refresh_items()
        self.refresh_workers()

    @classmethod
    def at_positions(cls, labels: Labels, settings: Settings, positions: Floats) -> Beliefs:
        """Start from these positions and from workers with `W = I`, `tau = 0`; who gave no label keeps the prior."""
        D = settings.dimensions
        J = labels.n_workers
        answered = np.zeros(J)
        answered[labels.answered] = 1.0
        share = np.where(answered > 0, INITIAL_SHARE, 1.0)
        return cls(
            labels=labels,
            settings=settings,
            mean=np.array(positions, dtype=np.float64, order="C"),
            variance=np.full((labels.n_items, D), INITIAL_SHARE * settings.position_variance),
            weights=answered[:, None, None] * np.eye(D),
            weight_variances=np.repeat(share * settings.weight_variance, D * D).reshape(J, D, D),
            biases=np.zeros(J),
            bias_variances=share * settings.bias_variance,
        )

    def copy(self) -> Beliefs:
        """The same beliefs, to be updated apart from these."""
        copied = replace(
            self,
            mean=self.mean.copy(),
            variance=self.variance.copy(),
            weights=self.weights.copy(),
            weight_variances=self.weight_variances.copy(),
            biases=self.biases.copy(),
            bias_variances=self.bias_variances.copy(),
        )
        copied.prior = self.prior
        return copied

    @property
    def dims(self) -> tuple[int, ...]:
        """A tuple of length `D`, as the kernels want it."""
        return (0,) * self.settings.dimensions

    def refresh_items(self) -> None:
        """Bring the tiles up to date after positions were set from outside."""
        kernels.fill_tiles(self.dims, self.tiles, self.mean, self.variance)

    def refresh_workers(self) -> None:
        """Bring what the kernels need of the workers up to date."""
        self.judges = Judges(
            weights=self.weights,
            moments=second_moments(self.weights, self.weight_variances),
            bias=self.biases,
            bias_variance=self.bias_variances,
        )

    def update_items(self, prior_precision: Floats, prior_shift: Floats) -> None:
        """Sweep the items (section 4).

        Parameters
        ----------
        prior_precision : ndarray of shape (n, D, D)
            Expected prior precision of each item.
        prior_shift : ndarray of shape (n, D)
            Expected prior precision times prior mean.
        """
        kernels.sweep_items(
            self.dims,
            self.tiles,
            self.judges,
            self.settings.label_weight,
            prior_precision,
            prior_shift,
            self.mean,
            self.variance,
            self.work,
        )

    def update_weights(self) -> None:
        """Update the weights of all workers (section 5)."""
        D = self.settings.dimensions
        P = D * (D + 1) // 2
        J = self.labels.n_workers
        gamma = np.empty((J, P, P))
        lin = np.empty((J, D, D))
        kernels.gather_workers(self.dims, self.tiles, self.judges, self.settings.label_weight, gamma, lin, self.work)
        precision = -2.0 * pair_feature_moments(gamma + gamma.transpose(0, 2, 1), D)
        precision += np.diag(1.0 / self.prior.weight_variances)
        both = lin + lin.transpose(0, 2, 1)
        both[:, np.arange(D), np.arange(D)] *= 0.5
        right = vech(both) + self.prior.weight_means / self.prior.weight_variances
        solution = np.linalg.solve(precision, right[..., None])[..., 0]
        self.weights = unvech(np.asarray(solution, dtype=np.float64), D)
        self.weight_variances = unvech(1.0 / np.diagonal(precision, axis1=1, axis2=2), D)
        self.refresh_workers()

    def sum_labels(self) -> Floats:
        """The sums of `kernels.sum_labels`, worker by worker; shape (J, 3)."""
        sums = np.empty((self.labels.n_workers, 3))
        kernels.sum_labels(self.dims, self.tiles, self.judges, self.settings.label_weight, sums, self.work)
        return sums

    def update_biases(self, sums: Floats) -> None:
        """Update the biases (section 5) from fresh `sum_labels`."""
        self.bias_variances = 1.0 / (1.0 / self.prior.bias_variance - 2.0 * sums[:, 0])
        self.biases = self.bias_variances * (sums[:, 1] + self.prior.bias_mean / self.prior.bias_variance)
        self.judges = self.judges._replace(bias=self.biases, bias_variance=self.bias_variances)

    def learn_prior(self) -> None:
        """Update the workers' prior (section 9) where the settings say that they share it, else leave it.

        Who gave no label takes the new prior as it is. One worker alone could share it with nobody.
        """
        answered = self.labels.answered
        if self.settings.worker_prior != "shared" or len(answered) < 2:
            return
        D = self.settings.dimensions
        self.prior = shared_prior(
            vech(self.weights), vech(self.weight_variances), self.biases, self.bias_variances, answered
        )
        silent = np.setdiff1d(np.arange(self.labels.n_workers), answered)
        if len(silent):
            self.weights[silent] = unvech(self.prior.weight_means, D)
            self.weight_variances[silent] = unvech(self.prior.weight_variances, D)
            self.biases[silent] = self.prior.bias_mean
            self.bias_variances[silent] = self.prior.bias_variance
            self.refresh_workers()
