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
"""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import (
    CELLS,
    EVEN,
    FEATURES,
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
    IGNORED,
    add_combined,
    add_rows,
    combine,
    curve,
    fetch,
    set_rows,
    sum_rows,
    take_rows,
    weigh,
)

# Digest of `arrays`, `jit` and `vectors`: Numba compiles anew only when this file changes.
MADE_WITH = "7abd21cdf014e6b9"
# Numbers of a tile that are brought near before they are needed, where there are more than so many in all.
MOST_AHEAD, NEAR = 2048, 131_072
# The product of this many factors of at most 2 in every lane is still a double.
FACTORS = 512 * LANES


@bare_part
def at(base: int, row: int, width: int, column: int) -> int:
    """Position of one entry of a tile; unsigned, or every access would first look for a negative index."""
    return np.uintp(base) + np.uintp(row) * np.uintp(width) + np.uintp(column)  # type: ignore[return-value]


@bare_part
def whole(length: int, to: int) -> int:
    """The least multiple of `to` that is no less."""
    return (length + to - 1) // to * to


@bare_part
def face(judges: WorkerArrays, j: int, D: int, points: Floats, first: int, work: Scratch) -> None:
    """For an item with the features from `first` on and worker `j`: `R Z_a` and `2 t M m_a`."""
    P = D * (D + 1) // 2
    rows, columns = whole(P, EVEN), whole(P, LANES)
    base = j * rows * columns
    combine(points, first, 1, judges.flat_moments, base, columns, rows, work.coefficients, 0, columns, 1.0)
    rows, columns = whole(D, EVEN), whole(D, LANES)
    base = j * rows * columns
    twice = 2.0 * judges.bias[j]
    combine(points, first + P, 1, judges.flat_weights, base, columns, rows, work.coefficients, P, columns, twice)


@bare_part
def squares(tiles: Tiles, judges: WorkerArrays, h: int, j: int, start: int, first: int, work: Scratch) -> None:
    """`Delta^2` with the partners from column `start` of tile `h` on, into cells from `first` on; needs `face`."""
    width = tiles.ptr[h + 1] - tiles.ptr[h]
    begin = tiles.rows * tiles.ptr[h] + start
    alone = judges.bias[j] * judges.bias[j] + judges.bias_variance[j]
    cells, length = work.curvature, width - start
    set_rows(work.coefficients, 0, tiles.features, begin, width, cells, first, length, alone)
    for q in range(FEATURES, tiles.rows, FEATURES):
        add_rows(work.coefficients, q, tiles.features, begin + q * width, width, cells, first, length, 0.0)


@bare_part
def gather(tiles: Tiles, h: int, start: int, first: int, work: Scratch, place: int) -> None:
    """Sum `lambda_b Z_b` and `lambda_b m_b` over the partners from column `start` on. Padding is zero."""
    width = tiles.ptr[h + 1] - tiles.ptr[h]
    begin = tiles.rows * tiles.ptr[h] + start
    for q in range(0, tiles.rows, FEATURES):
        row = begin + q * width
        sum_rows(work.curvature, first, tiles.features, row, width, width - start, work.partners, place + q)


@bare_part
def place(tiles: Tiles, h: int, column: int, D: int, point: Floats) -> None:
    """Write an item's `Z` and `m` into its column of a tile, and move the sums of the groups it is in."""
    P = D * (D + 1) // 2
    width = tiles.ptr[h + 1] - tiles.ptr[h]
    base = tiles.rows * tiles.ptr[h]
    for q in range(P):
        tiles.features[at(base, q, width, column)] = point[q]
    answers = tiles.answer_ptr[h + 1] - tiles.answer_ptr[h]
    group = tiles.group_ptr[h] + column * answers
    for d in range(D):
        moved = point[P + d] - tiles.features[at(base, P + d, width, column)]
        tiles.features[at(base, P + d, width, column)] = point[P + d]
        tiles.tile_sums[h, d] += moved
        for x in range(group, group + answers):
            tiles.group_sums[tiles.groups[x], d] += moved


@bare_part
def describe(mean: Floats, variance: Floats, item: int, D: int, point: Floats) -> None:
    """Write `Z` and `m` of an item."""
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
def solve(matrix: Floats, right: Floats, mean: Floats, variance: Floats, item: int) -> None:
    """Mean `matrix^-1 right` and variances `1 / diag(matrix)` of one item; Cholesky in place, lower triangle."""
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
            describe(mean, variance, tiles.items[tiles.ptr[h] + column], D, work.points)
            place(tiles, h, column, D, work.points)


@bare_part
def pull_item(tiles: Tiles, judges: WorkerArrays, weight: float, h: int, a: int, D: int, work: Scratch) -> None:
    """Add what the answers to a tile say of the item in its column `a`, whose features are in `work.points`."""
    P = D * (D + 1) // 2
    width = tiles.ptr[h + 1] - tiles.ptr[h]
    begin, end = tiles.answer_ptr[h], tiles.answer_ptr[h + 1]
    groups = tiles.group_ptr[h] + a * (end - begin) - begin
    at_once = max(1, CELLS // width)
    for first in range(begin, end, at_once):
        last = min(first + at_once, end)
        for x in range(first, last):
            j = tiles.answer_workers[x]
            face(judges, j, D, work.points, 0, work)
            squares(tiles, judges, h, j, 0, (x - first) * width, work)
        curve(work.curvature, (last - first) * width, weight)
        for x in range(first, last):
            work.curvature[np.uintp((x - first) * width + a)] = 0.0
        for x in range(first, last):
            j = tiles.answer_workers[x]
            gather(tiles, h, 0, (x - first) * width, work, 0)
            rows, columns = whole(P, EVEN), whole(P, LANES)
            base = j * rows * columns
            add_combined(work.partners, 0, 1, judges.flat_moments, base, columns, rows, work.total, 0, columns, 1.0)
            # the item's own position is in both sums
            group = tiles.groups[groups + x]
            twice = 2.0 * judges.bias[j]
            for d in range(D):
                label = tiles.group_sums[group, d] - 0.5 * (tiles.tile_sums[h, d] + work.points[P + d])
                work.pull[d] = weight * label + twice * work.partners[P + d]
            rows, columns = whole(D, EVEN), whole(D, LANES)
            base = j * rows * columns
            add_combined(work.pull, 0, 1, judges.flat_weights, base, columns, rows, work.shift, 0, columns, 1.0)


@bare_part
def look_ahead(tiles: Tiles, judges: WorkerArrays, next_one: int, second: int, D: int) -> None:
    """Have near what the next two appearances need: which groups, then where these are, the tile and the workers."""
    h = tiles.item_tile[second]
    answers = tiles.answer_ptr[h + 1] - tiles.answer_ptr[h]
    fetch(tiles.groups, tiles.group_ptr[h] + tiles.item_column[second] * answers, answers)
    h = tiles.item_tile[next_one]
    begin, end = tiles.answer_ptr[h], tiles.answer_ptr[h + 1]
    if len(tiles.features) > NEAR:
        length = tiles.rows * (tiles.ptr[h + 1] - tiles.ptr[h])
        fetch(tiles.features, tiles.rows * tiles.ptr[h], min(length, MOST_AHEAD))
    first = tiles.group_ptr[h] + tiles.item_column[next_one] * (end - begin)
    for x in range(end - begin):
        fetch(tiles.flat_group_sums, tiles.groups[first + x] * D, 1)
    if len(judges.flat_moments) > NEAR:
        size = len(judges.flat_moments) // len(judges.bias)
        for x in range(begin, end):
            fetch(judges.flat_moments, tiles.answer_workers[x] * size, size)


@bare_kernel
def sweep_items(
    tiles: Tiles,
    judges: WorkerArrays,
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
    tiles, judges, weight
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
        after = tiles.item_ptr[items[min(n + 1, len(items) - 1)]]
        describe(mean, variance, i, D, work.points)
        work.total[:] = 0.0
        for d in range(D):
            work.shift[d] = prior_shift[i, d]
        for k in range(first, last):
            look_ahead(tiles, judges, k + 1 if k + 1 < last else after, k + 2 if k + 2 < last else after, D)
            pull_item(tiles, judges, weight, tiles.item_tile[k], tiles.item_column[k], D, work)
        q = 0
        for d in range(D):
            # entries off the diagonal of `R Z` stand for two entries of the matrix
            work.precision[d, d] = prior_precision[i, d, d] - 2.0 * work.total[q]
            q += 1
            for e in range(d + 1, D):
                work.precision[e, d] = prior_precision[i, e, d] - work.total[q]
                q += 1
        solve(work.precision, work.shift, mean, variance, i)
        describe(mean, variance, i, D, work.points)
        for k in range(first, last):
            place(tiles, tiles.item_tile[k], tiles.item_column[k], D, work.points)


@bare_part
def square_rows(
    tiles: Tiles, judges: WorkerArrays, h: int, j: int, D: int, first: int, work: Scratch
) -> tuple[int, int]:
    """Squares of the pairs `a < b` in the rows from `first` on, as many rows as fit.

    Returns the row after the last of them, and how many cells they take.
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
            take_rows(tiles.features, base + q * width + a, width, work.points, point + q)
        face(judges, j, D, work.points, point, work)
        squares(tiles, judges, h, j, start, filled, work)
        for b in range(start, a + 1):
            work.curvature[np.uintp(filled + b - start)] = IGNORED
        for b in range(size, width):
            work.curvature[np.uintp(filled + b - start)] = IGNORED
        filled += width - start
        a += 1
    return a, filled


@bare_part
def weigh_cells(filled: int, work: Scratch) -> tuple[float, float]:
    """Turn `Delta^2` into `lambda`, 0 where no pair counts; return `sum lambda`, `sum log g(Delta) - Delta / 2`."""
    curved, bound = 0.0, 0.0
    for begin in range(0, filled, FACTORS):
        weigh(work.curvature, begin, min(FACTORS, filled - begin), work.lanes)
        for lane in range(LANES):
            curved += work.lanes[lane]
            # log g(delta) = -log(1 + exp(-delta)): one logarithm for many labels
            bound -= 0.5 * work.lanes[LANES + lane] + np.log(work.lanes[2 * LANES + lane])
    return curved, bound


@bare_part
def add_products(rows: int, D: int, work: Scratch, c: int, sums: Sums) -> None:
    """Add the outer products of points and the sums of their partners."""
    P = D * (D + 1) // 2
    even = whole(rows, EVEN)
    for q in range(work.row):
        for a in range(rows, even):
            work.points[a * work.row + q] = 0.0
    columns, points, partners, row = whole(P, LANES), work.points, work.partners, work.row
    for p in range(P):
        out = (c * P + p) * columns
        add_combined(points, p, row, partners, 0, row, even, sums.flat_gamma, out, columns, 1.0)
    columns = whole(D, LANES)
    for d in range(D):
        out = (c * D + d) * columns
        add_combined(points, P + d, row, partners, P, row, even, sums.flat_cross, out, columns, 1.0)


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
                s += tiles.features[at(base, P + d, width, b)] * tiles.features[at(base, P + e, width, b)]
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
    tiles: Tiles, judges: WorkerArrays, chunks: Ints, first: int, last: int, sums: Sums, work: Scratch
) -> None:
    """Sums over pairs `a < b` for the workers (section 5) and the likelihood's bound (section 2).

    Parameters
    ----------
    tiles, judges, work
        As for `sweep_items`.
    chunks : ndarray of shape (C + 1,)
        Where chunks of responses, each of one worker, start.
    first, last
        The chunks to sum.
    sums
        Receives the sums.
    """
    D = judges.dimensions
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
                next_row, filled = square_rows(tiles, judges, h, j, D, first_row, work)
                more_curved, more_bound = weigh_cells(filled, work)
                curved += more_curved
                bound += more_bound
                cell = 0
                for a in range(first_row, next_row):
                    start = (a + 1) // LANES * LANES
                    gather(tiles, h, start, cell, work, (a - first_row) * work.row)
                    cell += width - start
                add_products(next_row - first_row, D, work, c, sums)
            add_groups(tiles, r, D, c, sums.labels)
        sums.curved[c] = curved
        sums.bound[c] = bound
