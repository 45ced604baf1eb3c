"""The tables of one fit, row by row: clusters, membership, embedding, workers, confusion (docs/files.md).

An item that was never shown with another one has no cluster: its row in `clusters.csv` leaves cluster, probability and
entropy empty, and it has no rows in `membership.csv` and `embedding.csv`, where it could only repeat the prior.
`category` is what the lead called it, and `override` is filled where that is because the lead moved the item. An item
whose cluster was subdivided is written with its cluster in the stage below: `path` is then `all/1/2`, and cluster,
probability and entropy are those of that stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.campaign import WHOLE_COLLECTION
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.domain.stages import category_path
from crowdclust_app.services.campaign.left_out import Exclusions
from crowdclust_app.services.fits.parts import parts_of
from crowdclust_app.services.fits.results import FitResult, chances_of, entropy_bits
from crowdclust_app.services.stages.leaf_clusters import LeafCluster
from crowdclust_app.services.workers.worker_rows import worker_rows

CLUSTER_COLUMNS = (
    "item",
    "path",
    "cluster",
    "category",
    "probability",
    "entropy_bits",
    "times_shown",
    "stage",
    "verified",
    "override",
)
MEMBERSHIP_COLUMNS = ("item", "cluster", "probability")
WORKER_COLUMNS = ("worker", "hits", "items", "pair_labels", "seconds_per_hit", "agreement", "heldout_loglik", "flags")
EXCLUSION_COLUMNS = ("worker", "hit", "reason", "decided_at")
CONFUSION_COLUMNS = ("worker", "cluster_a", "cluster_b", "probability", "eq10_bound")
FLAG_SEPARATOR = "; "


class Table(NamedTuple):
    """One file on its way out.

    Parameters
    ----------
    name
        File name.
    header
        Names of the columns.
    rows
        To be read once.
    """

    name: str
    header: tuple[str, ...]
    rows: Iterable[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fit and the names of what its rows are about.

    Parameters
    ----------
    result
        The fit.
    item_names, worker_names
        In the order of the result's rows.
    stage
        What was fitted.
    """

    result: FitResult
    item_names: tuple[str, ...]
    worker_names: tuple[str, ...]
    stage: str = WHOLE_COLLECTION

    def labels_in(self, table: ResponseTable) -> NDArray[np.int64]:
        """Cluster of each item of a table, 0 for none; the table may hold items that came after the fit."""
        number_of = {name: number for number, name in enumerate(self.item_names)}
        places = np.array([number_of.get(name, -1) for name in table.item_names], dtype=np.int64)
        labels = np.append(np.where(self.result.shown, self.result.labels, 0), 0)
        return labels[places].astype(np.int64)


def heldout_of_workers(fitted: Fitted) -> dict[str, float]:
    """Log-likelihood of a held-out decision, in nats, of every worker who has one; a pair label's with the bound."""
    values = fitted.result.heldout_workers
    if values is None:
        return {}
    return {name: value for name, value in zip(fitted.worker_names, values.tolist(), strict=True) if np.isfinite(value)}


def result_tables(
    fitted: Fitted,
    table: ResponseTable,
    paths: Mapping[str, str],
    worker_label: Callable[[str], str],
    verified: Mapping[str, str] | None = None,
    categories: Mapping[str, tuple[str | None, str | None]] | None = None,
    leaves: Mapping[str, LeafCluster] | None = None,
) -> Iterator[Table]:
    """The tables that only a fit has.

    Parameters
    ----------
    fitted
        The fit.
    table
        The responses by now; all its items are in `clusters.csv`.
    paths
        Path in the tree of each item's category, by name; that of its cluster where it has none here.
    worker_label
        How a worker is written.
    verified
        What verification says of items in their clusters (`in`, `out`, `undecided`), by name.
    categories
        Category and override of items that have any, by name.
    leaves
        Where items end whose cluster was subdivided, by name.
    """
    result, names = fitted.result, fitted.item_names
    dimensions = result.positions.shape[1]
    header: tuple[str, ...] = CLUSTER_COLUMNS
    rows = _cluster_rows(fitted, table, paths, verified or {}, categories or {}, leaves or {})
    parts = parts_of(table)
    if parts.max(initial=-1) > 0:
        header = (*CLUSTER_COLUMNS, "part")
        rows = ((*row, part + 1 or None) for row, part in zip(rows, parts.tolist(), strict=True))
    yield Table("clusters.csv", header, rows)
    yield Table("membership.csv", MEMBERSHIP_COLUMNS, _membership_rows(result, names))
    axes = range(1, dimensions + 1)
    columns = ("item", *(f"x{d}" for d in axes), *(f"sd{d}" for d in axes), "fisher1", "fisher2")
    yield Table("embedding.csv", columns, _embedding_rows(result, names))
    if result.answered.any():
        yield Table("confusion.csv", CONFUSION_COLUMNS, _confusion_rows(fitted, worker_label))


def worker_table(
    table: ResponseTable,
    labels: NDArray[np.int64],
    seconds: Mapping[str, Sequence[float]],
    worker_label: Callable[[str], str],
    heldout: Mapping[str, float] | None = None,
    left_out: Exclusions | None = None,
) -> Table:
    """What each worker did, and how far it agrees with the clusters.

    Parameters
    ----------
    table
        The responses.
    labels : ndarray of shape (N,)
        Cluster of each item, 0 for none. `agreement` is the share of a worker's pair labels between items of clusters
        that say what the clusters say; without clusters it is empty.
    seconds
        Active seconds of each submitted HIT, by worker's name; the table holds their median.
    worker_label
        How a worker is written.
    heldout
        Log-likelihood of a held-out decision in nats, by worker's name, of those who have one.
    left_out
        What runs leave out: it is in the table, and in the flags.
    """
    sizes = table.sizes
    items = np.bincount(table.worker_of_response, weights=sizes, minlength=table.n_workers)
    pairs = np.bincount(table.worker_of_response, weights=sizes * (sizes - 1) // 2, minlength=table.n_workers)
    rows = [
        (
            worker_label(row.name),
            row.hits,
            int(items[j]),
            int(pairs[j]),
            row.seconds_per_hit,
            row.agreement,
            (heldout or {}).get(row.name),
            FLAG_SEPARATOR.join(row.all_flags),
        )
        for j, row in enumerate(worker_rows(table, labels, seconds, left_out=left_out))
    ]
    return Table("workers.csv", WORKER_COLUMNS, rows)


def exclusion_table(left_out: Exclusions, worker_label: Callable[[str], str]) -> Table:
    """What runs leave out and why; with no HIT everything of a worker."""
    both = (*left_out.retired.values(), *left_out.responses.values())
    rows = [(worker_label(left.worker), left.hit, left.reason, left.at) for left in both]
    return Table("exclusions.csv", EXCLUSION_COLUMNS, rows)


def _cluster_rows(
    fitted: Fitted,
    table: ResponseTable,
    paths: Mapping[str, str],
    verified: Mapping[str, str],
    categories: Mapping[str, tuple[str | None, str | None]],
    leaves: Mapping[str, LeafCluster],
) -> Iterator[tuple[Any, ...]]:
    result = fitted.result
    number_of = {name: number for number, name in enumerate(fitted.item_names)}
    labels = fitted.labels_in(table)
    probabilities = chances_of(result)
    entropy = entropy_bits(np.clip(result.responsibilities, 0.0, 1.0))
    for name, label, times in zip(table.item_names, labels.tolist(), table.times_shown.tolist(), strict=True):
        leaf = leaves.get(name)
        if leaf is not None:
            beliefs: tuple[Any, ...] = (leaf.cluster, leaf.category, leaf.probability, leaf.entropy_bits)
            yield (name, leaf.path, *beliefs, leaf.times_shown, leaf.stage, leaf.verified, leaf.override)
            continue
        category, override = categories.get(name, (None, None))
        beliefs = (None, category, None, None)
        path = paths.get(name)
        if label:
            path = path or category_path(fitted.stage, label)
            number = number_of[name]
            beliefs = (label, category, float(probabilities[number, label - 1]), float(entropy[number]))
        yield (name, path, *beliefs, times, fitted.stage, verified.get(name), override)


def _membership_rows(result: FitResult, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    chances = chances_of(result)
    for number in np.flatnonzero(result.shown).tolist():
        for cluster, probability in enumerate(chances[number].tolist(), start=1):
            yield names[number], cluster, probability


def _embedding_rows(result: FitResult, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    columns = np.hstack([result.positions, np.sqrt(result.position_variances), result.fisher])
    for number in np.flatnonzero(result.shown).tolist():
        yield (names[number], *columns[number].tolist())


def _confusion_rows(fitted: Fitted, worker_label: Callable[[str], str]) -> Iterator[tuple[Any, ...]]:
    """Full matrices of the workers who answered; after a consensus all of them have the same one."""
    result = fitted.result
    n_clusters = result.confusion.shape[1]
    for j in np.flatnonzero(result.answered).tolist():
        worker = worker_label(fitted.worker_names[j])
        for a in range(n_clusters):
            for b in range(n_clusters):
                yield worker, a + 1, b + 1, float(result.confusion[j, a, b]), float(result.confusion_bound[j, a, b])
