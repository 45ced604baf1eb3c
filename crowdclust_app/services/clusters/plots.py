"""Plots about the clusters of a run, as numbers and words (`domain.plots`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdclust_app.domain.plots import Curve, Curves, Matrix
from crowdclust_app.services.clusters.comparing import Contingency, compare_with_known
from crowdclust_app.services.clusters.embedding import embedding_plot
from crowdclust_app.services.clusters.run_view import RunView
from crowdclust_app.services.fits.results import FitResult, Run, RunInfo

__all__ = [
    "ClusterScore",
    "StartRow",
    "bound_plot",
    "cluster_numbers_plot",
    "cluster_scores",
    "comparison_plot",
    "embedding_plot",
    "known_categories_plot",
    "known_plot",
    "starts_of",
    "starts_plot",
    "trace_plot",
    "traces_of",
]

PHASES = {"layers": "Positions", "mixture": "Clusters", "joint": "Joint"}


@dataclass(frozen=True, slots=True)
class StartRow:
    """How one start of a fit ended.

    Parameters
    ----------
    number
        From 1.
    bound
        At its end.
    behind
        How far its bound is behind the best one's.
    clusters, sweeps
        At its end, and over all phases; None for runs that did not keep them.
    """

    number: int
    bound: float
    behind: float
    clusters: int | None
    sweeps: int | None


@dataclass(frozen=True, slots=True)
class ClusterScore:
    """How well held-out responses are predicted with a number of clusters.

    Parameters
    ----------
    clusters
        The number.
    loglik, se
        Held-out log-likelihood in nats and its standard error over responses; None where one response alone
        was scored.
    se_beside_best
        Standard error of the difference to the best number; None in the same case.
    """

    clusters: int
    loglik: float
    se: float | None
    se_beside_best: float | None


def starts_of(result: FitResult) -> tuple[StartRow, ...]:
    """The starts of a fit beside each other, in their order."""
    best = result.start_bounds[kept_start(result) - 1] if result.start_bounds else 0.0
    rows = []
    for number, bound in enumerate(result.start_bounds, start=1):
        sweeps = [clusters for start, _, _, clusters in result.start_traces if start == number]
        found = sweeps[-1] if sweeps else None
        rows.append(StartRow(number, bound, best - bound, found, len(sweeps) or None))
    return tuple(rows)


def kept_start(result: FitResult) -> int:
    """The start that was kept, counted from 1: with a number of clusters not always that of the highest bound."""
    if result.bound in result.start_bounds:
        return result.start_bounds.index(result.bound) + 1
    return int(np.argmax(result.start_bounds)) + 1 if result.start_bounds else 1


def traces_of(result: FitResult) -> tuple[tuple[int, str, float], ...]:
    """Start, phase and bound of every sweep; of the best start alone for runs that did not keep the others."""
    if result.start_traces:
        return tuple((start, phase, bound) for start, phase, bound, _ in result.start_traces)
    best = kept_start(result)
    return tuple((best, phase, bound) for phase, bound in result.lower_bounds)


def cluster_scores(runs: Sequence[RunInfo], run: Run) -> tuple[int, tuple[ClusterScore, ...]] | None:
    """Held-out scores by number of clusters: of this run, or of the newest that tried numbers on the same responses.

    Returns
    -------
    tuple of run number and scores, or None
        None where no such run tried any.
    """
    same = [info for info in runs if info.stage == run.stage and info.fingerprint == run.fingerprint]
    own = [info for info in same if info.number == run.number]
    for info in (*own, *reversed(same)):
        tried: Any = info.summary.get("clusters_tried")
        if tried:
            return info.number, tuple(
                ClusterScore(int(entry["clusters"]), float(entry["loglik"]), entry["se"], entry["se_beside_best"])
                for entry in tried
            )
    return None


def bound_plot(run: Run, phase: str = "joint") -> Curves:
    """The bound of every start by sweep, in one phase."""
    curves = []
    traces = [sweep for sweep in traces_of(run.result) if sweep[1] == phase]
    for start in sorted({start for start, _, _ in traces}):
        bounds = np.array([bound for number, _, bound in traces if number == start])
        curves.append(Curve(f"start {start}", np.arange(1.0, len(bounds) + 1.0), bounds))
    title = f"Run {run.number}, {PHASES.get(phase, phase).lower()}"
    return Curves(f"bound-{phase}", title, "sweep", "bound (nats)", tuple(curves))


def starts_plot(run: Run) -> Curves:
    """The bounds at which the starts ended."""
    rows = starts_of(run.result)
    ends = Curve("end", np.array([float(row.number) for row in rows]), np.array([row.bound for row in rows]))
    return Curves("starts", f"Run {run.number}", "start", "bound at the end (nats)", (ends,))


def cluster_numbers_plot(run: Run, scores: Sequence[ClusterScore], source: int) -> Curves:
    """Held-out score by number of clusters with one standard error, the run's own number marked."""
    numbers = np.array([float(score.clusters) for score in scores])
    score = np.array([score.loglik for score in scores])
    spread = np.array([score.se or 0.0 for score in scores])
    found = float(run.result.summary["clusters"])
    return Curves(
        "number-of-clusters",
        f"Run {source}",
        "clusters",
        "held-out log-likelihood (nats)",
        (Curve("held out", numbers, score, spread),),
        marks=((found, f"run {run.number}"),),
    )


def known_plot(run: Run, found: Contingency) -> Matrix:
    """Known categories against clusters: the paper's Figure 2 (right); of a subdivided cluster's run, Figure 5."""
    return _matrix("known-categories", f"Run {run.number}", found)


def known_categories_plot(
    view: RunView, truth: Mapping[str, str], names: Mapping[int, str], order: Sequence[str] = ()
) -> Matrix | None:
    """The same of a run and the known categories of its items; None where there are none.

    Parameters
    ----------
    truth
        Known category by item's name.
    names
        What the lead calls a cluster, by its number.
    order
        Categories in the order to show them; those not in it follow by name.
    """
    found = compare_with_known(view, truth, order, names)
    return known_plot(view.run, found) if found.compared else None


def trace_plot(view: RunView) -> Curves | None:
    """The bound by iteration, one line a phase; None for a method without a bound."""
    trace = view.run.result.lower_bounds
    if not trace:
        return None
    curves = []
    for phase in dict.fromkeys(phase for phase, _ in trace):
        at = [number for number, (of, _) in enumerate(trace, start=1) if of == phase]
        bounds = np.array([bound for of, bound in trace if of == phase])
        curves.append(Curve(phase, np.array(at, dtype=np.float64), bounds))
    return Curves("bound", "Lower bound on the log evidence", "iteration", "bound (nats)", tuple(curves))


def comparison_plot(found: Contingency) -> Matrix:
    """Clusters of two runs against each other."""
    bits = "" if found.vi_bits is None else f", variation of information {found.vi_bits:.3f} bits"
    return _matrix("two-runs", f"{found.row_title.capitalize()} and {found.column_title}{bits}", found)


def _matrix(name: str, title: str, found: Contingency) -> Matrix:
    return Matrix(
        name=name,
        title=title,
        x_label=found.column_title,
        y_label=found.row_title,
        row_names=found.row_names,
        column_names=found.column_names,
        values=found.counts.astype(np.float64),
        value_label="items",
        lowest=0.0,
    )
