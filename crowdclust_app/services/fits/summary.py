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
from crowdclust_app.services.fits.parts import joining_sets, parts_of
from crowdclust_app.services.fits.results import NOTHING_SAID, FitDiagnostics, FitResult
from crowdclust_app.services.fits.verdicts import (
    choice_sentence,
    continuous_sentence,
    convergence_sentence,
    label_weight_sentence,
    lost_clusters_sentence,
    one_cluster_sentence,
    stability_sentences,
    structure,
    structure_sentence,
    too_little_sentence,
    worker_sentences,
)

# Starts that end within this share of the best bound count as the same result.
_SAME_BOUND = 1e-3
# Names of items that a sentence lists; more are counted.
_NAMES = 5
NOT_TO_BE_MISSED = ("Too few answers", "No structure", "The items lie", "The design falls", "Outside the largest part")
"""How the sentences begin that are among a summary's warnings."""


def summarise(
    table: ResponseTable,
    settings: Mapping[str, Any],
    result: FitResult,
    seconds: float,
    sentences: Sequence[str] | None = None,
    heldout: HeldOut | None = None,
    stability: Sequence[float] | None = None,
    diagnostics: FitDiagnostics = NOTHING_SAID,
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
    diagnostics
        What the fit says of itself beside the result.

    Returns
    -------
    dict
        Plain JSON values with the keys of docs/files.md; null where a key does not apply.
    """
    sizes = np.bincount(result.labels[result.labels > 0])[1:]
    found, parts = int(np.count_nonzero(sizes)), parts_of(table)
    joining = joining_sets(table, parts, result.labels, result.responsibilities)
    # who asks for one cluster does not look for structure
    asked_for_one = settings.get("clusters") == 1
    told = verdicts(table, settings, result, heldout, diagnostics) if sentences is None else sentences
    return {
        "method": settings["method"],
        "items": table.n_items,
        "workers": len(np.unique(table.worker_of_response)),
        "responses": table.n_responses,
        "pair_labels": table.n_pair_labels,
        "clusters": found,
        "cluster_sizes": [int(size) for size in sizes if size],
        "bound": result.bound,
        "iterations": result.n_iterations,
        "converged": result.converged,
        "starts": [float(bound) for bound in result.start_bounds],
        "entropy_bits": float(result.entropy_bits),
        **_heldout_figures(heldout),
        "structure": None if asked_for_one or diagnostics.too_little else structure(heldout, found),
        "too_little": diagnostics.too_little,
        "continuous": diagnostics.continuous,
        "parts": int(parts.max(initial=-1)) + 1,
        "sets_to_add": diagnostics.more_sets or len(joining) or None,
        "joining_sets": [[table.item_names[item] for item in items] for items in joining] or None,
        "expected_calibration_error": None,
        # one cluster of all items is found again whatever the responses are
        "stability": None if stability is None or len(stability) < 2 else [round(value, 4) for value in stability],
        "verdicts": [*told, *stability_sentences(stability)],
        "warnings": [sentence for sentence in told if sentence.startswith(NOT_TO_BE_MISSED)],
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
    scored = heldout is not None and heldout.scored > 0
    found = {key: getattr(heldout, name) if scored else None for key, name in keys.items()}
    figures: dict[str, Any] = {
        key: value if value is not None and math.isfinite(value) else None for key, value in found.items()
    }
    figures["heldout_unit"] = None if heldout is None else heldout.unit
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
    diagnostics: FitDiagnostics = NOTHING_SAID,
) -> tuple[str, ...]:
    """Say in full sentences how far a fit can be trusted.

    Parameters
    ----------
    table, settings, result, heldout, diagnostics
        As in `summarise`.

    Returns
    -------
    tuple of str
        Convergence, agreement of the starts, structure or that there is one cluster, what was chosen, what the design
        cannot answer, the label weight, workers who sort oddly.
    """
    sentences = [
        convergence_sentence(
            settings, result.n_iterations, result.converged, result.lower_bounds, diagnostics.n_unchanged
        ),
        _about_starts(result.start_bounds),
    ]
    found = len(result.means)
    if diagnostics.too_little:
        sentences.append(too_little_sentence(diagnostics.more_sets))
        if heldout is None and settings.get("folds", 0):
            sentences.append(structure_sentence(None))
    else:
        if settings.get("folds", 0) and (found > 1 or structure(heldout) is None):
            sentences.append(structure_sentence(heldout))
        if found == 1:
            sentences.append(one_cluster_sentence(settings, heldout))
    if diagnostics.continuous:
        sentences.append(continuous_sentence(diagnostics.fold_agreement))
    sentences.append(choice_sentence(settings, heldout, result.means.shape[1]))
    if found > 1:
        sentences.append(lost_clusters_sentence(settings, heldout, found))
    sentences.extend(design_sentences(table, result.labels))
    weight = settings["label_weight"] if diagnostics.label_weight is None else diagnostics.label_weight
    sentences.append(label_weight_sentence(1.0 if weight == "auto" else weight))
    sentences.extend(worker_sentences(table, result.labels))
    return tuple(sentence for sentence in sentences if sentence)


def design_sentences(table: ResponseTable, labels: NDArray[np.int64]) -> tuple[str, ...]:
    """What the responses cannot answer, whatever the method: parts that nothing joins, items never shown.

    Parameters
    ----------
    labels : ndarray of shape (N,)
        Cluster of each item, 0 for none.
    """
    joined = component_labels(table.n_items, table.response_ptr, table.items)
    sentences = list(design_warnings(joined, table.times_shown, table.n_items, todo="let some HITs join the parts"))
    parts = parts_of(table)
    if parts.max(initial=-1) > 0:
        small = np.flatnonzero(parts > 0)
        small = small[np.argsort(-parts[small], kind="stable")]
        names = ", ".join(table.item_names[item] for item in small[:_NAMES])
        more = f" and {len(small) - _NAMES:,} more" if len(small) > _NAMES else ""
        known = (labels > 0) & (parts >= 0)
        met = set(zip(labels[known].tolist(), parts[known].tolist(), strict=True))
        spans = len(met) > len({cluster for cluster, _ in met})
        what = (
            "clusters span the parts, though nothing says how they belong together"
            if spans
            else "no cluster spans two parts"
        )
        sentences.insert(1, f"Outside the largest part are {names}{more}; {what}.")
    return tuple(sentences)


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
