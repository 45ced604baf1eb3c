"""The sums over pair labels, one dense block a response; labels are never expanded (docs/model.md, sections 1 and 3-5).

Everything about a pair of items `a, b` and a worker follows from two products. With `m` an item's mean, `v` its
variances, `Z = vech(m m' + diag v)` (length `P = D (D + 1) / 2`), a worker's weights `W` with means `M`, and the matrix
`R` of second moments of `W` (`blocks.second_moments`):

    E[A]   = (M m_a)' m_b + t
    E[A^2] = (R Z_a)' Z_b + 2 t (M m_a)' m_b + t^2 + w

So the items of a HIT are a *tile*: `P + D` rows (`Z`, `m`) of `M` columns, padded with zeros to a multiple of `LANES`;
all responses to these items share it. One row of labels (item `a` against its partners, by one worker) is a
matrix-vector product with the tile, the logistic function's curvature `lambda` element by element, and a product back.
All inner loops run over the partners, in whole vectors (`vectors`). What the labels themselves add (`l / 2` times
something) follows from the sums of the positions in each group, which are kept.

In all functions `h` is a tile, `r` a response, `x` an answer (a response counted tile by tile), `j` a worker, `a` and
`b` columns of a tile, `q` one of its rows, `k` an appearance of an item in a tile, `c` a chunk of responses. All may
overwrite `work`.
"""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import (
    CELLS,
    EVEN,
    FEATURES,
    IGNORED,
    LANES,
    Floats,
    Ints,
    Scratch,
    Sums,
    Tiles,
    WorkerArrays,
)
from crowdclust_app.inference.crowdclustering.kernels.jit import bare_kernel, bare_part
from crowdclust_app.inference.crowdclustering.kernels.vectors import (
    add_vector_matrix,
    add_weighted_rows,
    copy_column,
    prefetch,
    row_dot_products,
    set_vector_matrix,
    set_weighted_rows,
    squares_to_bound_terms,
    squares_to_curvatures,
)

# Arrays of up to so many numbers stay in the cache by themselves; of larger ones, so much of a tile is prefetched.
CACHED, MOST_PREFETCHED = 131_072, 2048
# The product of 512 factors of at most 2 in every lane is still a double, below 2^1024.
FACTORS = 512 * LANES


@bare_part
def flat_index(base: int, row: int, width: int, column: int) -> int:
    """Position of one entry of a tile; unsigned, or every access would first test for a negative index."""
    return np.uintp(base) + np.uintp(row) * np.uintp(width) + np.uintp(column)  # type: ignore[return-value]


@bare_part
def round_up(length: int, to: int) -> int:
    """The least multiple of `to` that is no less."""
    return (length + to - 1) // to * to


@bare_part
def worker_features(workers: WorkerArrays, j: int, D: int, points: Floats, first: int, work: Scratch) -> None:
    """Write `R Z_a` and `2 t M m_a` into `work.coefficients`.

    Parameters
    ----------
    workers, j, D
        The worker, and the dimensions.
    points, first
        Where the item's features `Z_a, m_a` begin. They are followed by zeros or finite numbers up to whole vectors,
        which meet the zeros that the worker's matrices are padded with.
    """
    P = D * (D + 1) // 2
    rows, columns = round_up(P, EVEN), round_up(P, LANES)
    base = j * rows * columns
    set_vector_matrix(points, first, 1, workers.flat_moments, base, columns, rows, work.coefficients, 0, columns, 1.0)
    rows, columns = round_up(D, EVEN), round_up(D, LANES)
    base = j * rows * columns
    twice = 2.0 * workers.bias[j]
    set_vector_matrix(
        points, first + P, 1, workers.flat_weights, base, columns, rows, work.coefficients, P, columns, twice
    )


@bare_part
def pair_squares(tiles: Tiles, workers: WorkerArrays, h: int, j: int, start: int, first: int, work: Scratch) -> None:
    """Write `Delta^2` of an item and the partners from column `start` of tile `h` on into `work.curvature`.

    The item is in `work.coefficients` (`worker_features`); the squares are written from cell `first` on.
    """
    width = tiles.ptr[h + 1] - tiles.ptr[h]
    begin = tiles.rows * tiles.ptr[h] + start
    # E[A^2] = (R Z_a)' Z_b + (2 t M m_a)' m_b + t^2 + w: one product with the tile, and a constant
    constant = workers.bias[j] * workers.bias[j] + workers.bias_variance[j]
    cells, length = work.curvature, width - start
    set_weighted_rows(work.coefficients, 0, tiles.features, begin, width, cells, first, length, constant)
    for q in range(FEATURES, tiles.rows, FEATURES):
        add_weighted_rows(work.coefficients, q, tiles.features, begin + q * width, width, cells, first, length, 0.0)


@bare_part
def gather_partners(tiles: Tiles, h: int, start: int, first: int, work: Scratch, target: int) -> None:
    """Sum `lambda_b Z_b` and `lambda_b m_b` over the partners from column `start` on.

    Reads `lambda` in `work.curvature` from cell `first` on; writes into `work.partners` from `target` on. Columns that
    pad a tile are zero, so it does not matter what their `lambda` is, as long as it is finite.
    """
    width = tiles.ptr[h + 1] - tiles.ptr[h]
    begin = tiles.rows * tiles.ptr[h] + start
    for q in range(0, tiles.rows, FEATURES):
        row = begin + q * width
        row_dot_products(work.curvature, first, tiles.features, row, width, width - start, work.partners, target + q)


@bare_part
def move_item(tiles: Tiles, h: int, column: int, D: int, point: Floats) -> None:
    """Write an item's `Z` and `m` into its column of a tile, and move the sums of the groups it is in."""
    P = D * (D + 1) // 2
    width = tiles.ptr[h + 1] - tiles.ptr[h]
    base = tiles.rows * tiles.ptr[h]
    for q in range(P):
        tiles.features[flat_index(base, q, width, column)] = point[q]
    answers = tiles.answer_ptr[h + 1] - tiles.answer_ptr[h]
    group = tiles.group_ptr[h] + column * answers
    for d in range(D):
        moved = point[P + d] - tiles.features[flat_index(base, P + d, width, column)]
        tiles.features[flat_index(base, P + d, width, column)] = point[P + d]
        tiles.tile_sums[h, d] += moved
        for x in range(group, group + answers):
            tiles.group_sums[tiles.groups[x], d] += moved


@bare_part
def item_features(mean: Floats, variance: Floats, item: int, D: int, point: Floats) -> None:
    """Write `Z` and `m` of an item into `point`."""
    q = 0
    for d in range(D):
        for e in range(d, D):
            point[q] = mean[item, d] * mean[item, e]
            if d == e:
                point[q] += variance[item, d]
            q += 1
    for d in range(D):
        point[q + d] = mean[item, d]


@bare_part
def solve_item(matrix: Floats, right: Floats, mean: Floats, variance: Floats, item: int) -> None:
    """Write the mean `matrix^-1 right` and the variances `1 / diag(matrix)` of one item.

    Cholesky decomposition in place, of the lower triangle alone; `matrix` and `right` are overwritten. For matrices of
    two to twenty rows, LAPACK's overhead would be longer than the work.
    """
    D = mean.shape[1]
    for d in range(D):
        variance[item, d] = 1.0 / matrix[d, d]
    for d in range(D):
        for e in range(d):
            s = matrix[d, e]
            for f in range(e):
                s -= matrix[d, f] * matrix[e, f]
            matrix[d, e] = s / matrix[e, e]
        s = matrix[d, d]
        t = right[d]
        for f in range(d):
            s -= matrix[d, f] * matrix[d, f]
            t -= matrix[d, f] * right[f]
        matrix[d, d] = np.sqrt(s)
        right[d] = t / matrix[d, d]
    for back in range(D):
        d = D - 1 - back
        s = right[d]
        for f in range(d + 1, D):
            s -= matrix[f, d] * mean[item, f]
        mean[item, d] = s / matrix[d, d]


@bare_kernel
def fill_tiles(tiles: Tiles, mean: Floats, variance: Floats, work: Scratch) -> None:
    """Write all items' moments into all tiles, and sum their positions."""
    D = mean.shape[1]
    tiles.tile_sums[:] = 0.0
    tiles.group_sums[:] = 0.0
    tiles.features[:] = 0.0
    for h in range(len(tiles.sizes)):
        for column in range(tiles.sizes[h]):
            item_features(mean, variance, tiles.items[tiles.ptr[h] + column], D, work.points)
            move_item(tiles, h, column, D, work.points)


@bare_part
def add_item_evidence(
    tiles: Tiles, workers: WorkerArrays, weight: float, h: int, a: int, D: int, work: Scratch
) -> None:
    """Add what the answers to a tile say of the item in its column `a`, whose features are in `work.points`.

    Adds `sum_x R_x sum_b lambda_xb Z_b` to `work.total`, and the same answers' share of the precision-weighted mean to
    `work.shift`.
    """
    P = D * (D + 1) // 2
    width = tiles.ptr[h + 1] - tiles.ptr[h]
    begin, end = tiles.answer_ptr[h], tiles.answer_ptr[h + 1]
    groups = tiles.group_ptr[h] + a * (end - begin) - begin
    # several workers at once: one call for all their curvatures, as many as stay in the nearest cache
    at_once = max(1, CELLS // width)
    for first in range(begin, end, at_once):
        last = min(first + at_once, end)
        for x in range(first, last):
            j = tiles.answer_workers[x]
            worker_features(workers, j, D, work.points, 0, work)
            pair_squares(tiles, workers, h, j, 0, (x - first) * width, work)
        squares_to_curvatures(work.curvature, (last - first) * width, weight)
        # an item is no partner of itself
        for x in range(first, last):
            work.curvature[np.uintp((x - first) * width + a)] = 0.0
        for x in range(first, last):
            j = tiles.answer_workers[x]
            gather_partners(tiles, h, 0, (x - first) * width, work, 0)
            rows, columns = round_up(P, EVEN), round_up(P, LANES)
            base = j * rows * columns
            add_vector_matrix(
                work.partners, 0, 1, workers.flat_moments, base, columns, rows, work.total, 0, columns, 1.0
            )
            # sum_b l_ab / 2 m_b: the group less half of the tile; the item's own position is in both
            group = tiles.groups[groups + x]
            twice = 2.0 * workers.bias[j]
            for d in range(D):
                label = tiles.group_sums[group, d] - 0.5 * (tiles.tile_sums[h, d] + work.points[P + d])
                work.pull[d] = weight * label + twice * work.partners[P + d]
            rows, columns = round_up(D, EVEN), round_up(D, LANES)
            base = j * rows * columns
            add_vector_matrix(work.pull, 0, 1, workers.flat_weights, base, columns, rows, work.shift, 0, columns, 1.0)


@bare_part
def prefetch_appearances(tiles: Tiles, workers: WorkerArrays, next_one: int, second: int, D: int) -> None:
    """Bring into the cache what the next two appearances need: group numbers, then their sums, tile and workers.

    Tiles are visited in no order that a processor could guess. The group numbers of the second appearance are fetched
    one step earlier than the sums, whose addresses they are.
    """
    h = tiles.item_tile[second]
    answers = tiles.answer_ptr[h + 1] - tiles.answer_ptr[h]
    prefetch(tiles.groups, tiles.group_ptr[h] + tiles.item_column[second] * answers, answers)
    h = tiles.item_tile[next_one]
    begin, end = tiles.answer_ptr[h], tiles.answer_ptr[h + 1]
    if len(tiles.features) > CACHED:
        length = tiles.rows * (tiles.ptr[h + 1] - tiles.ptr[h])
        prefetch(tiles.features, tiles.rows * tiles.ptr[h], min(length, MOST_PREFETCHED))
    first = tiles.group_ptr[h] + tiles.item_column[next_one] * (end - begin)
    for x in range(end - begin):
        prefetch(tiles.flat_group_sums, tiles.groups[first + x] * D, 1)
    if len(workers.flat_moments) > CACHED:
        size = len(workers.flat_moments) // len(workers.bias)
        for x in range(begin, end):
            prefetch(workers.flat_moments, tiles.answer_workers[x] * size, size)


@bare_kernel
def sweep_items(
    tiles: Tiles,
    workers: WorkerArrays,
    weight: float,
    prior_precision: Floats,
    prior_shift: Floats,
    items: Ints,
    mean: Floats,
    variance: Floats,
    work: Scratch,
) -> None:
    """Update these items in turn, each from the newest positions of its partners (section 4).

    Parameters
    ----------
    tiles, workers, weight
        Responses and workers, and the label weight `kappa`; the tiles follow the items as they move.
    prior_precision, prior_shift : ndarray of shape (n, D, D) and (n, D)
        Each item's expected prior precision, and that times the prior mean.
    items, mean, variance
        Which items, in this order; the items' posterior, updated in place.
    work
        Working memory.
    """
    D = mean.shape[1]
    for n in range(len(items)):
        i = items[n]
        first, last = tiles.item_ptr[i], tiles.item_ptr[i + 1]
        # the first appearance of the next item, for prefetching
        after = tiles.item_ptr[items[min(n + 1, len(items) - 1)]]
        item_features(mean, variance, i, D, work.points)
        work.total[:] = 0.0
        for d in range(D):
            work.shift[d] = prior_shift[i, d]
        for k in range(first, last):
            prefetch_appearances(tiles, workers, k + 1 if k + 1 < last else after, k + 2 if k + 2 < last else after, D)
            add_item_evidence(tiles, workers, weight, tiles.item_tile[k], tiles.item_column[k], D, work)
        q = 0
        for d in range(D):
            # entries off the diagonal of `R Z` stand for two entries of the matrix
            work.precision[d, d] = prior_precision[i, d, d] - 2.0 * work.total[q]
            q += 1
            for e in range(d + 1, D):
                work.precision[e, d] = prior_precision[i, e, d] - work.total[q]
                q += 1
        solve_item(work.precision, work.shift, mean, variance, i)
        item_features(mean, variance, i, D, work.points)
        for k in range(first, last):
            move_item(tiles, tiles.item_tile[k], tiles.item_column[k], D, work.points)


@bare_part
def square_pair_rows(
    tiles: Tiles, workers: WorkerArrays, h: int, j: int, D: int, first: int, work: Scratch
) -> tuple[int, int]:
    """Write squares of the pairs `a < b` in the rows from `first` on into `work.curvature`, as many rows as fit.

    Each row begins at the whole vector that holds its first partner; cells of it that are no pair are `IGNORED`. The
    items' features are left in `work.points`, one row of `work.row` numbers each.

    Returns
    -------
    int
        The row after the last of them.
    int
        How many cells they take.
    """
    width, size = tiles.ptr[h + 1] - tiles.ptr[h], tiles.sizes[h]
    base = tiles.rows * tiles.ptr[h]
    filled, a = 0, first
    while a < size - 1:
        start = (a + 1) // LANES * LANES
        if a > first and filled + width - start > CELLS:
            break
        point = (a - first) * work.row
        for q in range(0, tiles.rows, FEATURES):
            copy_column(tiles.features, base + q * width + a, width, work.points, point + q)
        worker_features(workers, j, D, work.points, point, work)
        pair_squares(tiles, workers, h, j, start, filled, work)
        for b in range(start, a + 1):
            work.curvature[np.uintp(filled + b - start)] = IGNORED
        for b in range(size, width):
            work.curvature[np.uintp(filled + b - start)] = IGNORED
        filled += width - start
        a += 1
    return a, filled


@bare_part
def sum_bound_terms(filled: int, work: Scratch) -> tuple[float, float]:
    """Turn the first `filled` cells from `Delta^2` into `lambda`, 0 where no pair counts.

    Returns
    -------
    float
        `sum lambda`.
    float
        `sum log g(Delta) - Delta / 2`.
    """
    curved, bound = 0.0, 0.0
    for begin in range(0, filled, FACTORS):
        squares_to_bound_terms(work.curvature, begin, min(FACTORS, filled - begin), work.lanes)
        for lane in range(LANES):
            curved += work.lanes[lane]
            # log g(Delta) = -log(1 + exp(-Delta)): one logarithm of a product for many labels
            bound -= 0.5 * work.lanes[LANES + lane] + np.log(work.lanes[2 * LANES + lane])
    return curved, bound


@bare_part
def add_products(rows: int, D: int, work: Scratch, c: int, sums: Sums) -> None:
    """Add the outer products of items and the sums of their partners to chunk `c`: `Z_a sum_b lambda Z_b'`, and of `m`.

    A matrix product over the `rows` items of `work.points` and `work.partners`, row by row of the result.
    """
    P = D * (D + 1) // 2
    # the vector functions take rows by twos: the one that is added weighs nothing
    even = round_up(rows, EVEN)
    for q in range(work.row):
        for a in range(rows, even):
            work.points[a * work.row + q] = 0.0
    columns, points, partners, row = round_up(P, LANES), work.points, work.partners, work.row
    for p in range(P):
        out = (c * P + p) * columns
        add_vector_matrix(points, p, row, partners, 0, row, even, sums.flat_gamma, out, columns, 1.0)
    columns = round_up(D, LANES)
    for d in range(D):
        out = (c * D + d) * columns
        add_vector_matrix(points, P + d, row, partners, P, row, even, sums.flat_cross, out, columns, 1.0)


@bare_part
def add_groups(tiles: Tiles, r: int, D: int, c: int, out: Floats) -> None:
    """Add `sum l / 2 m_a m_b'` over the ordered pairs of a response: what is in one group less half of everything."""
    P = D * (D + 1) // 2
    h, x = tiles.tile_of[r], tiles.answer_of[r]
    width = tiles.ptr[h + 1] - tiles.ptr[h]
    base = tiles.rows * tiles.ptr[h]
    for d in range(D):
        for e in range(d, D):
            s = tiles.tile_sums[h, d] * tiles.tile_sums[h, e]
            for b in range(width):
                m_d = tiles.features[flat_index(base, P + d, width, b)]
                s += m_d * tiles.features[flat_index(base, P + e, width, b)]
            out[c, d, e] -= 0.5 * s
            if e > d:
                out[c, e, d] -= 0.5 * s
    for group in range(tiles.first_group[x], tiles.first_group[x + 1]):
        for d in range(D):
            s = tiles.group_sums[group, d]
            for e in range(D):
                out[c, d, e] += s * tiles.group_sums[group, e]


@bare_kernel
def sum_labels(
    tiles: Tiles, workers: WorkerArrays, chunks: Ints, first: int, last: int, sums: Sums, work: Scratch
) -> None:
    """Sums over pairs `a < b` for the workers (section 5) and the likelihood's bound (section 2).

    Parameters
    ----------
    tiles, workers, work
        As for `sweep_items`.
    chunks : ndarray of shape (C + 1,)
        Where chunks of responses, each of one worker, start.
    first, last
        The chunks to sum.
    sums
        Receives the sums.
    """
    D = workers.dimensions
    for c in range(first, last):
        sums.gamma[c] = 0.0
        sums.cross[c] = 0.0
        sums.labels[c] = 0.0
        curved, bound = 0.0, 0.0
        for r in range(chunks[c], chunks[c + 1]):
            h, j = tiles.tile_of[r], tiles.workers[r]
            width = tiles.ptr[h + 1] - tiles.ptr[h]
            next_row = 0
            while next_row < tiles.sizes[h] - 1:
                first_row = next_row
                next_row, filled = square_pair_rows(tiles, workers, h, j, D, first_row, work)
                more_curved, more_bound = sum_bound_terms(filled, work)
                curved += more_curved
                bound += more_bound
                cell = 0
                for a in range(first_row, next_row):
                    start = (a + 1) // LANES * LANES
                    gather_partners(tiles, h, start, cell, work, (a - first_row) * work.row)
                    cell += width - start
                add_products(next_row - first_row, D, work, c, sums)
            add_groups(tiles, r, D, c, sums.labels)
        sums.curved[c] = curved
        sums.bound[c] = bound
