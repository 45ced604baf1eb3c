"""The figures and sentences of a fit, as `crowdclust fit --json` gives them (docs/files.md)."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation import metrics
from crowdclust_app.inference.crowdclustering.selection.heldout import HeldOut
from crowdclust_app.sampling.coverage import component_labels
from crowdclust_app.sampling.plan import design_warnings
from crowdclust_app.services.fits.results import FitResult
from crowdclust_app.services.fits.verdicts import (
    choice_sentence,
    convergence_sentence,
    label_weight_sentence,
    lost_clusters_sentence,
    one_cluster_sentence,
    stability_sentences,
    structure,
    structure_sentence,
    worker_sentences,
)

# Starts that end within this share of the best bound count as the same result.
_SAME_BOUND = 1e-3


def summarise(
    table: ResponseTable,
    settings: Mapping[str, Any],
    result: FitResult,
    seconds: float,
    sentences: Sequence[str] | None = None,
    heldout: HeldOut | None = None,
    stability: Sequence[float] | None = None,
    n_unchanged: int = 0,
) -> dict[str, Any]:
    """Collect the figures of one fit.

    Parameters
    ----------
    table
        What was fitted.
    settings
        What decided it, as a plain dictionary.
    result
        What was inferred; its own summary is not read.
    seconds
        How long it took.
    sentences
        Verdicts of a method that has its own; those of `verdicts` when None.
    heldout
        What held-out responses say of the fit.
    stability
        Of each cluster, where it was asked for (`stability.cluster_stability`).
    n_unchanged
        Joint iterations at the end in which no item changed its cluster.

    Returns
    -------
    dict
        Plain JSON values with the keys of docs/files.md; null where a key does not apply.
    """
    sizes = np.bincount(result.labels[result.labels > 0])[1:]
    return {
        "method": settings["method"],
        "items": table.n_items,
        "workers": len(np.unique(table.worker_of_response)),
        "responses": table.n_responses,
        "pair_labels": table.n_pair_labels,
        "clusters": int(np.count_nonzero(sizes)),
        "cluster_sizes": [int(size) for size in sizes if size],
        "bound": result.bound,
        "iterations": result.n_iterations,
        "converged": result.converged,
        "starts": [float(bound) for bound in result.start_bounds],
        "entropy_bits": float(result.entropy_bits),
        **_heldout_figures(heldout),
        # who asks for one cluster does not look for structure
        "structure": None if settings.get("clusters") == 1 else structure(heldout, int(np.count_nonzero(sizes))),
        # one cluster of all items is found again whatever the responses are
        "stability": None if stability is None or len(stability) < 2 else [round(value, 4) for value in stability],
        "verdicts": [
            *(verdicts(table, settings, result, heldout, n_unchanged) if sentences is None else sentences),
            *stability_sentences(stability),
        ],
        "settings": dict(settings),
        "seconds": round(seconds, 3),
        "peak_memory_mb": peak_memory_mb(),
    }


def _heldout_figures(heldout: HeldOut | None) -> dict[str, Any]:
    """What held-out responses say, as plain values; null where there is nothing to say."""
    keys = {
        "heldout_loglik": "loglik",
        "heldout_se": "loglik_se",
        "heldout_accuracy": "accuracy",
        "heldout_accuracy_se": "accuracy_se",
        "heldout_base_loglik": "base_loglik",
        "heldout_gain": "gain",
        "heldout_gain_se": "gain_se",
    }
    scored = heldout is not None and heldout.pairs > 0
    found = {key: getattr(heldout, name) if scored else None for key, name in keys.items()}
    figures = {key: value if value is not None and math.isfinite(value) else None for key, value in found.items()}
    if heldout is None:
        return {**figures, "chosen": None, "tried": None, "clusters_tried": None}
    chosen = {
        "dimensions": heldout.dimensions,
        "label_weight": heldout.label_weight,
        "clusters": heldout.clusters or None,
    }
    tried = [{"what": what, "value": value, "loglik": loglik} for what, value, loglik in heldout.tried]
    names = ("clusters", "loglik", "se", "se_beside_best")
    numbers = [
        {name: value if math.isfinite(value) else None for name, value in zip(names, entry, strict=True)}
        for entry in heldout.by_clusters
    ]
    return {**figures, "chosen": chosen, "tried": tried, "clusters_tried": numbers or None}


def verdicts(
    table: ResponseTable,
    settings: Mapping[str, Any],
    result: FitResult,
    heldout: HeldOut | None = None,
    n_unchanged: int = 0,
) -> tuple[str, ...]:
    """Say in full sentences how far a fit can be trusted.

    Parameters
    ----------
    table, settings, result, heldout, n_unchanged
        As in `summarise`.

    Returns
    -------
    tuple of str
        Convergence, agreement of the starts, structure or that there is one cluster, what was chosen, what the design
        cannot answer, the label weight, workers who sort oddly.
    """
    sentences = [
        convergence_sentence(settings, result.n_iterations, result.converged, result.lower_bounds, n_unchanged),
        _about_starts(result.start_bounds),
    ]
    found = len(result.means)
    if settings.get("folds", 0) and (found > 1 or structure(heldout) is None):
        sentences.append(structure_sentence(heldout))
    if found == 1:
        sentences.append(one_cluster_sentence(settings, heldout))
    sentences.append(choice_sentence(settings, heldout, result.means.shape[1]))
    if found > 1:
        sentences.append(lost_clusters_sentence(settings, heldout, found))
    sentences.extend(design_sentences(table))
    weight = heldout.label_weight if heldout is not None else settings["label_weight"]
    sentences.append(label_weight_sentence(1.0 if weight == "auto" else weight))
    sentences.extend(worker_sentences(table, result.labels))
    return tuple(sentence for sentence in sentences if sentence)


def design_sentences(table: ResponseTable) -> tuple[str, ...]:
    """What the responses cannot answer, whatever the method: parts that nothing joins, items never shown."""
    parts = component_labels(table.n_items, table.response_ptr, table.items)
    return tuple(design_warnings(parts, table.times_shown, table.n_items, todo="let some HITs join the parts"))


def compare_with_truth(
    item_names: Sequence[str], labels: NDArray[np.int64], truth: Mapping[str, str]
) -> dict[str, Any]:
    """Compare inferred clusters with known categories.

    Parameters
    ----------
    item_names
        Names of the `N` items.
    labels : ndarray of shape (N,)
        Cluster of each item; 0 for an item that was never shown, which is left out.
    truth
        Category by item name; items that are not among these are counted and left out.

    Returns
    -------
    dict
        `vi_nats, vi_bits, ari, nmi, truth_items` (items compared) and `truth_ignored` (items of the truth left out).

    Raises
    ------
    UserError
        When not one item can be compared.
    """
    known = [n for n, name in enumerate(item_names) if labels[n] > 0 and name in truth]
    if not known:
        raise UserError(
            "not one item of the truth is in the responses", todo="check that both tables name the items alike"
        )
    found = labels[known]
    right = [truth[item_names[n]] for n in known]
    distance = metrics.variation_of_information(found, right)
    return {
        "vi_nats": distance,
        "vi_bits": distance / math.log(2),
        "ari": metrics.adjusted_rand_index(found, right),
        "nmi": metrics.normalised_mutual_information(found, right),
        "truth_items": len(known),
        "truth_ignored": len(truth) - len(known),
    }


def peak_memory_mb() -> float | None:
    """Most memory this process has held at once, in MB (10^6 bytes); None where the system does not say."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage counts what the parent held before it started us
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) * 1024 / 1e6, 1)
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak * (1 if sys.platform == "darwin" else 1024) / 1e6, 1)


def _about_starts(bounds: Sequence[float]) -> str:
    if len(bounds) < 2:
        return ""
    best, worst = max(bounds), min(bounds)
    if best - worst <= _SAME_BOUND * abs(best):
        return f"All {len(bounds)} starts ended at the same bound within {_SAME_BOUND:.1%}."
    near = sum(best - bound <= _SAME_BOUND * abs(best) for bound in bounds)
    others = "no other start" if near == 1 else f"{near - 1} other start{'' if near == 2 else 's'}"
    return (
        f"The {len(bounds)} starts ended at bounds from {worst:,.1f} to {best:,.1f}; {others} came within "
        f"{_SAME_BOUND:.1%} of the best."
    )
