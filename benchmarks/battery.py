"""`./run bench battery`: automatic methods on many kinds of campaigns, beside others that are told the number."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from benchmarks.battery_kinds import KINDS, NO_TRUTH, REPORTED_SEEDS, invent
from benchmarks.experiments.results import ExperimentResult, ResultSheet, curve, curves, grouped
from benchmarks.report import BenchReport, check_names, place_for, report_of, watch_over, write_outcome
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import no_convergence_warning
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation.metrics import adjusted_rand_index, variation_of_information
from crowdclust_app.inference.consensus import ConsensusClustering
from crowdclust_app.inference.crowdclustering import Crowdclustering
from crowdclust_app.inference.crowdclustering.kernels.decisions import count_item_pairs
from crowdclust_app.services.progress_report import Progress

Ints = NDArray[np.int64]
ABOUT = "30 kinds of invented campaigns: automatic methods, and others that are told the number of clusters"
AUTOMATIC = ("crowdclustering",)
TOLD = ("average-linkage", "spectral", "nmf-masked")
QUICK_KINDS = ("fewsort", "tenhits", "fiveresponses")
TRIALS = ("kind", "method", "seed", "true_clusters", "clusters", "vi_nats", "ari", "seconds")
FIGURES = ("kind", "method", "seeds", "true_clusters", "clusters", "vi_nats", "ari", "seconds")


def run_battery(
    out: Path | None,
    methods: Sequence[str],
    seeds: int,
    quick: bool,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> BenchReport:
    """Cluster the reported campaigns of every kind.

    Parameters
    ----------
    out
        Folder for tables (CSV) and a plot (PNG); nothing is written when None.
    methods
        Of `AUTOMATIC` and `TOLD`; all of them when empty.
    seeds
        How many of `REPORTED_SEEDS`, on which no constant was set.
    quick
        Three small kinds and one seed, to show that it works.

    Returns
    -------
    BenchReport
        Medians over the seeds, a row for each kind and method. Items that belong nowhere are not counted.
    """
    check_names("method", methods, (*AUTOMATIC, *TOLD))
    methods = tuple(methods) or (*AUTOMATIC, *TOLD)
    kinds = QUICK_KINDS if quick else tuple(KINDS)
    used = REPORTED_SEEDS[: 1 if quick else seeds]
    watch = watch_over(progress, cancel)
    with place_for(out), no_convergence_warning():
        rows = []
        for number, kind in enumerate(kinds):
            for seed in used:
                case = invent(kind, seed)
                known = case.truth != NO_TRUTH
                for method in methods:
                    watch.at(number, len(kinds), f"{kind}, seed {seed}, {method}")
                    began = time.process_time()
                    labels = _cluster(method, case.table, case.clusters, seed)
                    seconds = time.process_time() - began
                    pair = labels[known].tolist(), case.truth[known].tolist()
                    scores = variation_of_information(*pair), adjusted_rand_index(*pair)
                    rows.append((kind, method, seed, case.clusters, int(labels.max()), *scores, seconds))
        outcome = _outcome(rows, kinds, methods)
        written = write_outcome("battery", outcome, out) if out is not None else ()
    return report_of("battery", quick, used, methods, (), outcome, written)


def _cluster(method: str, table: ResponseTable, clusters: int, seed: int) -> Ints:
    if method == "average-linkage":
        return average_linkage(table, clusters)
    automatic = Crowdclustering(n_starts=1, seed=seed)
    told = ConsensusClustering(method=method, n_clusters=clusters, n_starts=4, seed=seed)
    return (automatic if method in AUTOMATIC else told).fit(table).labels_


def average_linkage(table: ResponseTable, clusters: int) -> Ints:
    """Average linkage on one minus the smoothed share of times that two items were together; clusters from 1."""
    shown, joined = count_item_pairs(table.response_ptr, table.items, table.groups, table.n_items)
    rate = joined.sum() / shown.sum()
    distance = 1.0 - (joined + 0.5 * rate) / (shown + 0.5)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average")
    return np.asarray(fcluster(tree, clusters, "maxclust"), dtype=np.int64)


def _outcome(rows: list[tuple[Any, ...]], kinds: Sequence[str], methods: Sequence[str]) -> ExperimentResult:
    figures = [
        (kind, method, len(group), *(float(np.median([row[column] for row in group])) for column in range(3, 8)))
        for (kind, method), group in grouped(rows, 2).items()
    ]
    lines = [
        curve(method, range(1, len(kinds) + 1), [row[5] for row in figures if row[1] == method]) for method in methods
    ]
    title = "How far from what the workers had in mind"
    return ExperimentResult(
        ResultSheet("trials", TRIALS, tuple(rows)),
        ResultSheet("figures", FIGURES, tuple(figures)),
        (curves(title, "kind, in the table's order", "variation of information (nats)", lines),),
    )
