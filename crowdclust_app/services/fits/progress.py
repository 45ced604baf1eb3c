"""How far a fit has come: the inference's snapshots as reports of the whole, held-out fits included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.inference.crowdclustering import Snapshot
from crowdclust_app.inference.crowdclustering.selection.bound_choice import planned_fits
from crowdclust_app.inference.crowdclustering.selection.partitioning import CANDIDATES, FOLDS, PROBABILITIES
from crowdclust_app.services.progress_report import Progress, ProgressReport

_PHASES = {"layers": "finding positions", "mixture": "finding clusters", "joint": "refining"}
_HELD_OUT = "heldout"
# Steps of the search for clusters: how far each phase of it gets, in percent of the whole search.
_SEARCH = {FOLDS: (0, 70), CANDIDATES: (70, 85), PROBABILITIES: (85, 100)}
SEARCH_PHASES = (*_SEARCH, _HELD_OUT)
"""Phases before the first start."""


@dataclass(frozen=True, slots=True)
class FitProgress(ProgressReport):
    """How far a fit has come.

    Parameters
    ----------
    start, starts
        Which start is running, counted from 1, of how many.
    phase
        `layers`, `mixture` or `joint`; before the first start `folds`, `candidates` and `probabilities`, whose steps
        `start` and `starts` count, or `heldout`: then they count the fits to all but some responses.
    iteration
        Sweep of that phase.
    bound
        The bound now; monotone inside a phase only.
    clusters
        Clusters now, 0 while there are none.
    seconds
        Since the fit began.
    """

    start: int
    starts: int
    phase: str
    iteration: int
    bound: float
    clusters: int
    seconds: float


class _Counter:
    """Sweeps of several fits, of which so many run at once and the others one after another.

    Parameters
    ----------
    most
        Sweeps of one fit; it may end before.
    at_once
        How many fits run at once.
    """

    def __init__(self, most: int, at_once: int) -> None:
        self._most = most
        self._at_once = at_once
        self._reached: dict[int, int] = {}

    def count(self, fit: int, sweeps: int) -> int:
        """Note how far a fit is, counted from 1, and return how far all are; never less than before."""
        self._reached[fit] = max(self._reached.get(fit, 0), min(sweeps, self._most))
        over = max(0, max(self._reached) - self._at_once)
        return over * self._most + sum(reached for number, reached in self._reached.items() if number > over)


def reporter(settings: FitSettings, progress: Progress | None, at_once: int = 1) -> Callable[[Snapshot], None] | None:
    """Turn the estimator's snapshots into reports; None when nobody listens.

    Parameters
    ----------
    settings, progress
        Of the fit.
    at_once
        How many starts, or fits without some responses, run at once.
    """
    if progress is None:
        return None

    sweeps = settings.layer_rounds + settings.max_iterations
    if settings.n_clusters == "bound":
        planned = planned_fits(settings.folds, settings.label_weight == "auto", settings.dimensions == "auto")
        ahead = planned * settings.layer_rounds if settings.folds else 0
    else:
        ahead = _SEARCH[PROBABILITIES][1]

    fits, searched = _Counter(settings.layer_rounds, at_once), _Counter(ahead, 1)
    starts = _Counter(sweeps, at_once)

    def done(snapshot: Snapshot) -> int:
        if snapshot.phase in _SEARCH:
            begin, end = _SEARCH[snapshot.phase]
            # folds begin anew where more clusters have to be tried
            return searched.count(1, begin + (end - begin) * snapshot.start // max(snapshot.starts, 1))
        if snapshot.phase == _HELD_OUT:
            return min(fits.count(snapshot.start, snapshot.iteration), ahead)
        before = 0 if snapshot.phase == "layers" else settings.layer_rounds
        within = snapshot.iteration if snapshot.phase != "mixture" else 0
        return ahead + starts.count(snapshot.start, before + within)

    def report(snapshot: Snapshot) -> None:
        progress(
            FitProgress(
                done=done(snapshot),
                total=ahead + settings.n_starts * sweeps,
                text=_in_words(snapshot),
                start=snapshot.start,
                starts=snapshot.starts,
                phase=snapshot.phase,
                iteration=snapshot.iteration,
                bound=snapshot.bound,
                clusters=snapshot.clusters,
                seconds=snapshot.seconds,
            )
        )

    return report


def _in_words(snapshot: Snapshot) -> str:
    """How far a fit has come, in one line."""
    steps = f"{snapshot.start} of {snapshot.starts}"
    if snapshot.phase == FOLDS:
        return f"choosing the number of clusters, fold {steps}"
    if snapshot.phase == CANDIDATES:
        return f"finding clusters in all responses, {snapshot.clusters} so far"
    if snapshot.phase == PROBABILITIES:
        return f"drawing responses anew for probabilities, {steps}"
    if snapshot.phase == _HELD_OUT:
        return f"holding responses out, fit {snapshot.start} of at most {snapshot.starts}, sweep {snapshot.iteration}"
    found = "" if snapshot.phase == "layers" else f", {snapshot.clusters} clusters"
    return (
        f"start {snapshot.start} of {snapshot.starts}, {_PHASES.get(snapshot.phase, snapshot.phase)} "
        f"{snapshot.iteration}, bound {snapshot.bound:,.1f}{found}"
    )


class Sweeps:
    """Keeps the trace of every start, and passes on to whoever listens.

    Parameters
    ----------
    listener
        Is given every snapshot; None when nobody listens.
    """

    def __init__(self, listener: Callable[[Snapshot], None] | None) -> None:
        self._listener = listener
        self._kept: list[tuple[int, str, float, int]] = []

    def __call__(self, snapshot: Snapshot) -> None:
        """Note one sweep."""
        if snapshot.phase not in SEARCH_PHASES:
            self._kept.append((snapshot.start, snapshot.phase, float(snapshot.bound), int(snapshot.clusters)))
        if self._listener is not None:
            self._listener(snapshot)

    @property
    def traces(self) -> tuple[tuple[int, str, float, int], ...]:
        """Start, phase, bound and clusters of every sweep, start by start."""
        return tuple(sorted(self._kept, key=lambda sweep: sweep[0]))
