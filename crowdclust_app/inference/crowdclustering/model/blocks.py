"""The variational posterior of items and workers, and the exact updates of its blocks (docs/model.md, sections 3-5).

Every pair label's likelihood is bounded as by Jaakkola and Jordan (jaakkola2000): `Delta` is their variational
parameter `xi`, always at its optimum, and `lambda` the curvature of their bound. Setting it and then updating a block
are two exact coordinate steps, so the evidence lower bound never falls.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field, replace

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels import pair_labels
from crowdclust_app.inference.crowdclustering.kernels.arrays import (
    EVEN,
    Floats,
    Ints,
    Scratch,
    Sums,
    Tiles,
    WorkerArrays,
    aligned,
    padded,
)
from crowdclust_app.inference.crowdclustering.kernels.sweep_order import STRETCH, Order, order_of
from crowdclust_app.inference.crowdclustering.kernels.workers import fill_second_moments, solve_workers
from crowdclust_app.inference.crowdclustering.model.data import PairLabelData, tiles_of
from crowdclust_app.inference.crowdclustering.model.parallel import Parallel, cuts
from crowdclust_app.inference.crowdclustering.model.priors import WorkerPrior, independent_prior, shared_prior
from crowdclust_app.inference.crowdclustering.model.settings import ResolvedSettings

# Multiplications that solving for the workers must take to be worth sharing out.
WORTH_SHARING = 500_000
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
    rows, columns = np.triu_indices(mean.shape[-1])
    found = np.empty((len(mean), len(rows), len(rows)))
    fill_second_moments(np.ascontiguousarray(mean), np.ascontiguousarray(variance), rows, columns, found)
    return found


@dataclass(slots=True)
class VariationalPosterior:
    """Factorised variational posterior of positions, weights and biases, with the tiles that follow the positions.

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
    parallel
        Threads that share the work.
    laid_out
        Tiles of the same responses and their order, to be shared as far as positions do not matter; None to make them.
    prior
        Of the workers; at first the one that the settings name.
    """

    labels: PairLabelData
    settings: ResolvedSettings
    mean: Floats
    variance: Floats
    weights: Floats
    weight_variances: Floats
    biases: Floats
    bias_variances: Floats
    parallel: Parallel = field(default_factory=Parallel)
    laid_out: InitVar[tuple[Tiles, Order] | None] = None
    prior: WorkerPrior = field(init=False)
    tiles: Tiles = field(init=False)
    order: Order = field(init=False)
    worker_arrays: WorkerArrays = field(init=False)
    sums: Sums = field(init=False)
    work: list[Scratch] = field(init=False)

    def __post_init__(self, laid_out: tuple[Tiles, Order] | None) -> None:
        D = self.settings.dimensions
        self.prior = independent_prior(D, self.settings.weight_variance, self.settings.bias_variance)
        if laid_out is None:
            self.tiles = tiles_of(self.labels, D)
            self.order = order_of(self.tiles)
        else:
            self.tiles, self.order = laid_out[0].apart(), laid_out[1]
        self.sums = Sums.empty(len(self.order.chunk_workers), D)
        width = int(np.diff(self.tiles.ptr).max())
        self.work = [Scratch.of(width, D) for _ in range(self.parallel.size)]
        self.refresh_items()
        self.refresh_workers()

    @classmethod
    def at_positions(
        cls, labels: PairLabelData, settings: ResolvedSettings, positions: Floats, parallel: Parallel | None = None
    ) -> VariationalPosterior:
        """Start from these positions and workers with `W = I`, `tau = 0`; workers without a label keep the prior."""
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
            parallel=parallel or Parallel(),
        )

    def copy(self) -> VariationalPosterior:
        """The same posterior, to be updated apart from this one."""
        copied = replace(
            self,
            mean=self.mean.copy(),
            variance=self.variance.copy(),
            weights=self.weights.copy(),
            weight_variances=self.weight_variances.copy(),
            biases=self.biases.copy(),
            bias_variances=self.bias_variances.copy(),
            laid_out=(self.tiles, self.order),
        )
        copied.prior = self.prior
        return copied

    def refresh_items(self) -> None:
        """Bring the tiles up to date after positions were set from outside."""
        pair_labels.fill_tiles(self.tiles, self.mean, self.variance, self.work[0])

    def refresh_workers(self) -> None:
        """Bring what the kernels need of the workers up to date."""
        J, D, _ = self.weights.shape
        P = D * (D + 1) // 2
        moments = aligned(J * padded(P, EVEN) * padded(P))
        means = aligned(J * padded(D, EVEN) * padded(D))
        weights, variances = np.ascontiguousarray(self.weights), np.ascontiguousarray(self.weight_variances)
        shaped = moments.reshape(J, padded(P, EVEN), padded(P))
        fill_second_moments(weights, variances, *np.triu_indices(D), shaped)
        means.reshape(J, padded(D, EVEN), padded(D))[:, :D, :D] = weights
        self.worker_arrays = WorkerArrays(moments, means, self.biases, self.bias_variances, D)

    def update_items(self, prior_precision: Floats, prior_shift: Floats) -> None:
        """Sweep the items (section 4).

        Parameters
        ----------
        prior_precision : ndarray of shape (n, D, D)
            Expected prior precision of each item.
        prior_shift : ndarray of shape (n, D)
            Expected prior precision times prior mean.
        """
        weight, order = self.settings.label_weight, self.order

        def sweep(items: Ints, work: Scratch) -> None:
            pair_labels.sweep_items(
                self.tiles,
                self.worker_arrays,
                weight,
                prior_precision,
                prior_shift,
                items,
                self.mean,
                self.variance,
                work,
            )

        for begin, end in zip(order.steps[:-1].tolist(), order.steps[1:].tolist(), strict=True):
            items = order.items[begin:end]
            parts = cuts(order.item_loads[begin:end], self.parallel.size if order.independent else 1)
            self.parallel.share(sweep, [(items[a:b], work) for (a, b), work in zip(parts, self.work, strict=False)])

    def update_weights(self) -> Floats:
        """Update the weights of all workers (section 5).

        Returns
        -------
        ndarray of shape (J, 3)
            As of `sum_labels`: the first two for the biases, with the new weights and every `Delta` as it was
            before; the third the bound before.
        """
        J, D, _ = self.weights.shape
        old, upper = np.ascontiguousarray(self.weights), np.triu_indices(D)
        self.weights, self.weight_variances, found = np.empty_like(old), np.empty_like(old), np.empty((J, 3))
        sums, pointers = self._sum(), np.searchsorted(self.order.chunk_workers, np.arange(J + 1))

        def solve(first: int, last: int) -> None:
            solve_workers(
                sums,
                pointers,
                self.labels.half_labels,
                self.biases,
                old,
                self.prior.weight_means,
                self.prior.weight_variances,
                self.settings.label_weight,
                vech_table(D),
                *upper,
                first,
                last,
                self.weights,
                self.weight_variances,
                found,
            )

        worth = J * len(upper[0]) ** 3 >= WORTH_SHARING
        self.parallel.share(solve, cuts(np.ones(J, dtype=np.int64), self.parallel.size if worth else 1))
        self.refresh_workers()
        return found

    def sum_labels(self) -> Floats:
        """Sums for the biases (section 5) and the likelihood's bound (section 2), worker by worker.

        Returns
        -------
        ndarray of shape (J, 3)
            `sum lambda`, `sum (l / 2 + 2 lambda E[phi].M)` and `sum log g(Delta) + (l E[A] - Delta) / 2`, all times the
            label weight.
        """
        return self._per_worker(self._sum())

    def _sum(self) -> Sums:
        """Sum over all labels, chunk by chunk."""
        order = self.order

        def gather(first: int, last: int, work: Scratch) -> None:
            pair_labels.sum_labels(self.tiles, self.worker_arrays, order.chunks, first, last, self.sums, work)

        passes = max(1, int(order.chunk_loads.sum()) // STRETCH)
        for begin, end in cuts(order.chunk_loads, passes):
            parts = cuts(order.chunk_loads[begin:end], self.parallel.size)
            self.parallel.share(
                gather, [(begin + a, begin + b, work) for (a, b), work in zip(parts, self.work, strict=False)]
            )
        return self.sums

    def _by_worker(self, sums: Floats) -> Floats:
        """Sums by chunk as sums by worker: (C, ...) to (J, ...)."""
        J = self.labels.n_workers
        if len(sums) == J and np.array_equal(self.order.chunk_workers, np.arange(J)):
            return sums
        found = np.zeros((J, *sums.shape[1:]))
        first = np.flatnonzero(np.diff(self.order.chunk_workers, prepend=-1))
        found[self.order.chunk_workers[first]] = np.add.reduceat(sums, first, axis=0)
        return found

    def _per_worker(self, sums: Sums) -> Floats:
        """What `sum_labels` returns, with the weights and biases as they are now."""
        half = self.labels.half_labels
        curved = self._by_worker(sums.curved)
        pulled = half + 2.0 * np.einsum(
            "jde,jde->j", self.weights, self._by_worker(sums.cross[:, :, : self.weights.shape[2]])
        )
        linear = 0.5 * np.einsum("jde,jde->j", self.weights, self._by_worker(sums.labels)) + half * self.biases
        found = np.column_stack([curved, pulled, linear + self._by_worker(sums.bound)])
        return np.asarray(self.settings.label_weight * found)

    def update_biases(self, sums: Floats) -> None:
        """Update the biases (section 5) from fresh sums, of `update_weights` or `sum_labels`."""
        self.bias_variances = 1.0 / (1.0 / self.prior.bias_variance - 2.0 * sums[:, 0])
        self.biases = self.bias_variances * (sums[:, 1] + self.prior.bias_mean / self.prior.bias_variance)
        self.worker_arrays = self.worker_arrays._replace(bias=self.biases, bias_variance=self.bias_variances)

    def learn_prior(self) -> None:
        """Update the workers' prior (section 9) where the settings say that they share it, else leave it.

        Workers without a label take the new prior as it is. A single worker has nothing to share a prior with.
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
