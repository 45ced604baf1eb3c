"""The sums over pair labels, one dense block a response; labels are never expanded (crowdclustering.md, 1 and 3-5).

Everything about a pair of items `a, b` and a worker follows from two products. With `m` an item's mean, `v` its
variances, `Z = vech(m m' + diag v)` (length `P = D (D + 1) / 2`), a worker's weights `W` with means `M`, and the matrix
`R` of second moments of `W` (`blocks.second_moments`):

    E[A]   = (M m_a)' m_b + t
    E[A^2] = (R Z_a)' Z_b + 2 t (M m_a)' m_b + t^2 + w

So the items of a HIT are a *tile*: `P + D` rows (`Z`, `m`) of `M` columns, padded with zeros to a multiple of 8; all
responses to these items share it. One row of labels (item `a` against its partners, by one worker) is a
matrix-vector product with the tile, the logistic function's curvature `lambda` element by element, and a product back.
All inner loops run over the partners. What the labels themselves add (`l / 2` times something) follows from the sums of
the positions in each group, which are kept.
"""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.arrays import (
    CELLS,
    CHUNK,
    FEATURES,
    LANES,
    Floats,
    Ints,
    Judges,
    Scratch,
    Sums,
    Tiles,
)
from crowdclust_app.inference.crowdclustering.jit import kernel, part
from crowdclust_app.inference.crowdclustering.logistic import exponential, root

# The product of this many factors of at most 2 is still a double.
FACTORS = 512


@part
def at(base: int, row: int, width: int, column: int) -> int:
    """Position of one entry of a tile; unsigned, or every access would first look for a negative index."""
    return np.uintp(base) + np.uintp(row) * np.uintp(width) + np.uintp(column)  # type: ignore[return-value]


@part
def times(judges: Judges, j: int, vector: Floats, out: Floats) -> None:
    """`R_j` times a vector of length `P`; entries of `out` beyond `P` are spoilt."""
    length = judges.padded.shape[2]
    out[:length] = 0.0
    for p in range(0, length, CHUNK):
        v0, v1, v2, v3 = vector[p], vector[p + 1], vector[p + 2], vector[p + 3]
        for q in range(length):
            s = judges.padded[j, p, q] * v0 + judges.padded[j, p + 1, q] * v1
            out[q] += s + (judges.padded[j, p + 2, q] * v2 + judges.padded[j, p + 3, q] * v3)


@part
def face(judges: Judges, j: int, point: Floats, work: Scratch) -> None:
    """For an item with these features and worker `j`: `R Z_a` and `2 t M m_a`."""
    D = judges.weights.shape[1]
    P = D * (D + 1) // 2
    times(judges, j, point, work.coefficients)
    twice = 2.0 * judges.bias[j]
    for d in range(D):
        u = 0.0
        for e in range(D):
            u += judges.weights[j, d, e] * point[P + e]
        work.coefficients[P + d] = twice * u


@part
def squares(tiles: Tiles, judges: Judges, h: int, j: int, start: int, first: int, work: Scratch) -> None:
    """`Delta^2` with the partners from column `start` of tile `h` on, into cells from `first` on; needs `face`."""
    width = tiles.ptr[h + 1] - tiles.ptr[h]
    base = tiles.rows * tiles.ptr[h]
    cells = work.curvature[first : first + width - start]
    cells[:] = judges.bias[j] * judges.bias[j] + judges.bias_variance[j]
    for q in range(0, tiles.rows, FEATURES):
        c0, c1, c2, c3 = (
            work.coefficients[q],
            work.coefficients[q + 1],
            work.coefficients[q + 2],
            work.coefficients[q + 3],
        )
        c4, c5, c6 = work.coefficients[q + 4], work.coefficients[q + 5], work.coefficients[q + 6]
        for b in range(len(cells)):
            s = c0 * tiles.features[at(base, q, width, start + b)]
            s += c1 * tiles.features[at(base, q + 1, width, start + b)]
            s += c2 * tiles.features[at(base, q + 2, width, start + b)]
            s += c3 * tiles.features[at(base, q + 3, width, start + b)]
            s += c4 * tiles.features[at(base, q + 4, width, start + b)]
            s += c5 * tiles.features[at(base, q + 5, width, start + b)]
            cells[b] += s + c6 * tiles.features[at(base, q + 6, width, start + b)]


@part
def gather(tiles: Tiles, h: int, start: int, first: int, work: Scratch, out: Floats) -> None:
    """Sum `lambda_b Z_b` and `lambda_b m_b` over the partners from column `start` on. Padding is zero."""
    width = tiles.ptr[h + 1] - tiles.ptr[h]
    base = tiles.rows * tiles.ptr[h]
    cells = work.curvature[first : first + width - start]
    for q in range(0, tiles.rows, FEATURES):
        s0, s1, s2, s3, s4, s5, s6 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for b in range(len(cells)):
            curvature = cells[b]
            s0 += curvature * tiles.features[at(base, q, width, start + b)]
            s1 += curvature * tiles.features[at(base, q + 1, width, start + b)]
            s2 += curvature * tiles.features[at(base, q + 2, width, start + b)]
            s3 += curvature * tiles.features[at(base, q + 3, width, start + b)]
            s4 += curvature * tiles.features[at(base, q + 4, width, start + b)]
            s5 += curvature * tiles.features[at(base, q + 5, width, start + b)]
            s6 += curvature * tiles.features[at(base, q + 6, width, start + b)]
        out[q], out[q + 1], out[q + 2], out[q + 3] = s0, s1, s2, s3
        out[q + 4], out[q + 5], out[q + 6] = s4, s5, s6


@part
def pick(tiles: Tiles, h: int, column: int, point: Floats) -> None:
    """Copy the features of the item in one column of a tile."""
    width = tiles.ptr[h + 1] - tiles.ptr[h]
    base = tiles.rows * tiles.ptr[h]
    for q in range(tiles.rows):
        point[q] = tiles.features[at(base, q, width, column)]


@part
def place(tiles: Tiles, h: int, column: int, mean: Floats, variance: Floats, item: int) -> None:
    """Write an item's `Z` and `m` into its column of a tile, and move the sums of the groups it is in."""
    D = mean.shape[1]
    P = D * (D + 1) // 2
    width = tiles.ptr[h + 1] - tiles.ptr[h]
    base = tiles.rows * tiles.ptr[h]
    q = 0
    for d in range(D):
        for e in range(d, D):
            z = mean[item, d] * mean[item, e]
            if d == e:
                z += variance[item, d]
            tiles.features[at(base, q, width, column)] = z
            q += 1
        moved = mean[item, d] - tiles.features[at(base, P + d, width, column)]
        tiles.features[at(base, P + d, width, column)] = mean[item, d]
        tiles.tile_sums[h, d] += moved
        for k in range(tiles.answer_ptr[h], tiles.answer_ptr[h + 1]):
            r = tiles.answers[k]
            tiles.group_sums[tiles.groups[tiles.group_ptr[r] + column], d] += moved


@part
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


@kernel
def fill_tiles(tiles: Tiles, mean: Floats, variance: Floats) -> None:
    """Write all items' moments into all tiles, and sum their positions."""
    tiles.tile_sums[:] = 0.0
    tiles.group_sums[:] = 0.0
    tiles.features[:] = 0.0
    for h in range(len(tiles.sizes)):
        for column in range(tiles.sizes[h]):
            place(tiles, h, column, mean, variance, tiles.items[tiles.ptr[h] + column])


@kernel
def sweep_items(
    tiles: Tiles,
    judges: Judges,
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
    P = D * (D + 1) // 2
    for i in items:
        for q in range(len(work.total)):
            work.total[q] = 0.0
        for d in range(D):
            work.shift[d] = prior_shift[i, d]
        point, partners = work.points[0], work.partners[0]
        for k in range(tiles.item_ptr[i], tiles.item_ptr[i + 1]):
            h, a = tiles.item_tile[k], tiles.item_column[k]
            width = tiles.ptr[h + 1] - tiles.ptr[h]
            pick(tiles, h, a, point)
            at_once = max(1, CELLS // width)
            for begin in range(tiles.answer_ptr[h], tiles.answer_ptr[h + 1], at_once):
                answers = tiles.answers[begin : min(begin + at_once, tiles.answer_ptr[h + 1])]
                for n in range(len(answers)):
                    j = tiles.workers[answers[n]]
                    face(judges, j, point, work)
                    squares(tiles, judges, h, j, 0, n * width, work)
                cells = work.curvature[: len(answers) * width]
                for b in range(len(cells)):
                    delta = root(cells[b])
                    e = exponential(delta)
                    cells[b] = weight * e / (4.0 * delta * (2.0 + e))  # 0 <= -e < 1
                for n in range(len(answers)):
                    r = answers[n]
                    j = tiles.workers[r]
                    cells[n * width + a] = 0.0
                    gather(tiles, h, 0, n * width, work, partners)
                    times(judges, j, partners, work.product)
                    for q in range(len(work.total)):
                        work.total[q] += work.product[q]
                    # the item's own position is in both sums
                    group = tiles.groups[tiles.group_ptr[r] + a]
                    twice = 2.0 * judges.bias[j]
                    for d in range(D):
                        label = tiles.group_sums[group, d] - 0.5 * (tiles.tile_sums[h, d] + point[P + d])
                        pull = weight * label + twice * partners[P + d]
                        for e in range(D):
                            work.shift[e] += judges.weights[j, e, d] * pull
        q = 0
        for d in range(D):
            # entries off the diagonal of `R Z` stand for two entries of the matrix
            work.precision[d, d] = prior_precision[i, d, d] - 2.0 * work.total[q]
            q += 1
            for e in range(d + 1, D):
                work.precision[e, d] = prior_precision[i, e, d] - work.total[q]
                q += 1
        solve(work.precision, work.shift, mean, variance, i)
        for k in range(tiles.item_ptr[i], tiles.item_ptr[i + 1]):
            place(tiles, tiles.item_tile[k], tiles.item_column[k], mean, variance, i)


@part
def count_rows(tiles: Tiles, h: int, first: int, work: Scratch) -> tuple[int, int]:
    """Say which cells of the rows from `first` on are pairs `a < b`; return the last row that fits and the cells."""
    width, size = tiles.ptr[h + 1] - tiles.ptr[h], tiles.sizes[h]
    filled, a = 0, first
    while a < size - 1:
        start = (a + 1) // LANES * LANES
        if a > first and filled + width - start > CELLS:
            break
        counts = work.counts[filled : filled + width - start]
        counts[:] = 1.0
        counts[: a + 1 - start] = 0.0
        counts[size - start :] = 0.0
        filled += width - start
        a += 1
    return a, filled


@part
def weigh_cells(filled: int, work: Scratch) -> tuple[float, float]:
    """Turn `Delta^2` into `lambda`, 0 where no pair counts; return `sum lambda`, `sum log g(Delta) - Delta / 2`."""
    cells, counts = work.curvature[:filled], work.counts[:filled]
    deltas, factors = work.deltas[:filled], work.factors[:filled]
    for b in range(filled):
        delta = root(cells[b])
        e = exponential(delta)
        count = counts[b]
        deltas[b] = count * delta
        # log g(delta) = -log(1 + exp(-delta)): one logarithm for many labels
        factors[b] = 1.0 + count * (1.0 + e)
        cells[b] = count * e / (4.0 * delta * (2.0 + e))
    curved, bound = 0.0, 0.0
    for b in range(filled):
        curved += cells[b]
        bound -= deltas[b]
    bound *= 0.5
    for begin in range(0, filled, FACTORS):
        few = factors[begin : begin + FACTORS]
        product = 1.0
        for b in range(len(few)):
            product *= few[b]
        bound -= np.log(product)
    return curved, bound


@part
def add_products(rows: int, work: Scratch, gamma: Floats, cross: Floats) -> None:
    """Add the outer products of points and the sums of their partners."""
    D = cross.shape[0]
    P = D * (D + 1) // 2
    points, partners = work.points, work.partners
    for a in range(rows, -(-rows // CHUNK) * CHUNK):
        points[a] = 0.0
    for p in range(P):
        for a in range(0, rows, CHUNK):
            z0, z1, z2, z3 = points[a, p], points[a + 1, p], points[a + 2, p], points[a + 3, p]
            for q in range(gamma.shape[1]):
                s = z0 * partners[a, q] + z1 * partners[a + 1, q]
                gamma[p, q] += s + (z2 * partners[a + 2, q] + z3 * partners[a + 3, q])
    for a in range(rows):
        for d in range(D):
            m = points[a, P + d]
            for e in range(D):
                cross[d, e] += m * partners[a, P + e]


@part
def add_groups(tiles: Tiles, r: int, out: Floats) -> None:
    """Add `sum l / 2 m_a m_b'` over the ordered pairs of a response: what is in one group less half of everything."""
    D = tiles.tile_sums.shape[1]
    P = D * (D + 1) // 2
    h = tiles.tile_of[r]
    width = tiles.ptr[h + 1] - tiles.ptr[h]
    base = tiles.rows * tiles.ptr[h]
    for d in range(D):
        for e in range(D):
            s = tiles.tile_sums[h, d] * tiles.tile_sums[h, e]
            for b in range(width):
                s += tiles.features[at(base, P + d, width, b)] * tiles.features[at(base, P + e, width, b)]
            s *= -0.5
            for group in range(tiles.first_group[r], tiles.first_group[r + 1]):
                s += tiles.group_sums[group, d] * tiles.group_sums[group, e]
            out[d, e] += s


@kernel
def sum_labels(tiles: Tiles, judges: Judges, chunks: Ints, first: int, last: int, sums: Sums, work: Scratch) -> None:
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
    for c in range(first, last):
        sums.gamma[c] = 0.0
        sums.cross[c] = 0.0
        sums.labels[c] = 0.0
        curved, bound = 0.0, 0.0
        for r in range(chunks[c], chunks[c + 1]):
            h, j = tiles.tile_of[r], tiles.workers[r]
            width = tiles.ptr[h + 1] - tiles.ptr[h]
            last_row = 0
            while last_row < tiles.sizes[h] - 1:
                first_row = last_row
                last_row, filled = count_rows(tiles, h, first_row, work)
                cell = 0
                for a in range(first_row, last_row):
                    point = work.points[a - first_row]
                    start = (a + 1) // LANES * LANES
                    pick(tiles, h, a, point)
                    face(judges, j, point, work)
                    squares(tiles, judges, h, j, start, cell, work)
                    cell += width - start
                more_curved, more_bound = weigh_cells(filled, work)
                curved += more_curved
                bound += more_bound
                cell = 0
                for a in range(first_row, last_row):
                    start = (a + 1) // LANES * LANES
                    gather(tiles, h, start, cell, work, work.partners[a - first_row])
                    cell += width - start
                add_products(last_row - first_row, work, sums.gamma[c], sums.cross[c])
            add_groups(tiles, r, sums.labels[c])
        sums.curved[c] = curved
        sums.bound[c] = bound
