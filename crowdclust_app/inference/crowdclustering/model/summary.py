"""What a run reports of its clusters: order, entropy, the plane in which they lie apart (docs/model.md, section 10)."""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints


def order_by_size(memberships: Floats) -> Ints:
    """Components that are some item's most probable one, those of most items first; shape (K,)."""
    sizes = np.bincount(np.argmax(memberships, axis=1), minlength=memberships.shape[1])
    order = np.argsort(-sizes, kind="stable")
    return order[sizes[order] > 0]


def keep_columns(memberships: Floats, columns: Ints) -> Floats:
    """These columns, scaled so that each row sums to 1."""
    kept = memberships[:, columns]
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


def entropy_bits(memberships: Floats) -> Floats:
    """Entropy of each row, in bits; shape (n,)."""
    positive = np.where(memberships > 0.0, memberships, 1.0)
    return np.asarray(-(memberships * np.log2(positive)).sum(axis=1))


def fisher_axes(positions: Floats, labels: Ints, count: int = 2) -> Floats:
    """Directions in which clusters lie far apart for their widths.

    The first are Fisher's discriminant directions; where there are fewer of them than asked for (one less than there
    are clusters), the widest directions of what they leave follow. Unit length, largest entry positive.

    Parameters
    ----------
    positions : ndarray of shape (n, D)
    labels : ndarray of shape (n,)
        Cluster of each item.
    count
        How many directions.

    Returns
    -------
    ndarray of shape (D, count)
        In columns; those beyond `D` are 0.
    """
    D = positions.shape[1]
    centred = positions - positions.mean(axis=0)
    clusters, number = np.unique(labels, return_inverse=True)
    sizes = np.bincount(number)
    centres = np.stack([centred[number == k].mean(axis=0) for k in range(len(clusters))])
    between = (centres * sizes[:, None]).T @ centres
    apart = centred - centres[number]
    within = apart.T @ apart
    ridge = 1e-6 * (np.trace(within) + np.trace(between)) / D
    within = within + np.eye(D) * max(ridge, np.finfo(np.float64).tiny ** 0.5)
    values, vectors = np.linalg.eigh(within)
    whiten = vectors / np.sqrt(values)
    found = whiten @ np.linalg.eigh(whiten.T @ between @ whiten)[1][:, ::-1]
    axes = [found[:, c] / np.linalg.norm(found[:, c]) for c in range(min(count, D, len(clusters) - 1))]
    basis = np.array(axes).T.reshape(D, -1)
    if len(axes) < min(count, D):
        outside = np.eye(D) - basis @ np.linalg.pinv(basis) if axes else np.eye(D)
        widest = np.linalg.eigh(outside @ (within + between) @ outside)[1][:, ::-1]
        basis = np.column_stack([basis, widest[:, : min(count, D) - len(axes)]])
    axes_found = np.zeros((D, count))
    axes_found[:, : basis.shape[1]] = basis
    sign = np.sign(axes_found[np.argmax(np.abs(axes_found), axis=0), np.arange(count)])
    return axes_found * np.where(sign == 0.0, 1.0, sign)
