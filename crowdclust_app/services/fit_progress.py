"""How far a fit has come: the inference's snapshots as reports of the whole, held-out fits included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdclust_app.services.progress import Progress, ProgressReport

if TYPE_CHECKING:
    from crowdclust_app.inference.crowdclustering import Snapshot
    from crowdclust_app.services.fitting import FitSettings

_PHASES = {"layers": "finding positions", "mixture": "finding clusters", "joint": "refining"}


@dataclass(frozen=True, slots=True)
class FitProgress(ProgressReport):
    """How far a fit has come.

    Parameters
    ----------
    start, starts
        Which start is running, counted from 1, of how many.
    phase
        `layers`, `mixture` or `joint`; or, before the first start, `heldout`: then `start` and `starts` count the fits
        to all but some responses.
    iteration
        Sweep of that phase.
    bound
        The bound now; monotone inside a phase only.
    clusters
        Clusters now.
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


def reporter(settings: FitSettings, progress: Progress | None) -> Callable[[Snapshot], None] | None:
    """Turn the estimator's snapshots into reports; None when nobody listens."""
    if progress is None:
        return None
    from crowdclust_app.inference.crowdclustering.choosing import planned_fits

    sweeps = settings.layer_rounds + settings.max_iterations
    planned = planned_fits(settings.folds, settings.label_weight == "auto", settings.dimensions == "auto")
    ahead = planned * settings.layer_rounds if settings.folds else 0

    def done(snapshot: Snapshot) -> int:
        if snapshot.phase == "heldout":
            return min((snapshot.start - 1) * settings.layer_rounds + snapshot.iteration, ahead)
        before = 0 if snapshot.phase == "layers" else settings.layer_rounds
        within = snapshot.iteration if snapshot.phase != "mixture" else 0
        return ahead + (snapshot.start - 1) * sweeps + min(sweeps, before + within)

    def report(snapshot: Snapshot) -> None:
        progress(
            FitProgress(
                done=done(snapshot),
                total=ahead + settings.starts * sweeps,
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
    if snapshot.phase == "heldout":
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
        if snapshot.phase != "heldout":
            self._kept.append((snapshot.start, snapshot.phase, float(snapshot.bound), int(snapshot.clusters)))
        if self._listener is not None:
            self._listener(snapshot)

    @property
    def traces(self) -> tuple[tuple[int, str, float, int], ...]:
        """Start, phase, bound and clusters of every sweep, start by start."""
        return tuple(sorted(self._kept, key=lambda sweep: sweep[0]))
