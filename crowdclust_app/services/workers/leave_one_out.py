"""What the clusters of a run would be without one worker: a warm fit again, with everybody and without."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.methods import METHODS
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation.metrics import variation_of_information
from crowdclust_app.inference.crowdclustering.model.schedule import Snapshot
from crowdclust_app.inference.crowdclustering.model.settings import ResolvedSettings, resolved
from crowdclust_app.inference.crowdclustering.model.warm_start import WarmStart, refit
from crowdclust_app.services.fits.fitting import compile_kernels
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.progress_report import Progress, ProgressReport

Floats = NDArray[np.float64]
# The bound need not stand as still as at the end of a run to say where items belong.
_TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True)
class WithoutWorker:
    """What one worker changes.

    Parameters
    ----------
    worker
        Who.
    vi_bits
        Variation of information between the clusters with and without this worker, in bits; 0 is no change.
    moved, items
        Items that go to another cluster, clusters matched as well as can be, of the items that are shown either way.
    clusters, clusters_with
        How many there are without this worker, and with everybody.
    lost
        Items that only this worker saw, which then have no cluster.
    """

    worker: str
    vi_bits: float
    moved: int
    items: int
    clusters: int
    clusters_with: int
    lost: int

    @property
    def sentence(self) -> str:
        """The same in words."""
        if not self.moved:
            change = f"not one of {self.items:,} items would change its cluster"
        else:
            change = f"{self.moved:,} of {self.items:,} items would change their cluster (VI {self.vi_bits:.2f} bits)"
        words = f"Without {self.worker} {change}"
        if self.clusters != self.clusters_with:
            words += f"; there would be {self.clusters} clusters instead of {self.clusters_with}"
        if self.lost:
            words += f"; {self.lost:,} that nobody else saw would have none"
        return words + "."


def can_leave_out(run: Run) -> bool:
    """Whether the run's method can be fitted again from where it ended."""
    return METHODS[run.settings.method].kind == "clustering"


def without_worker(
    run: Run, table: ResponseTable, worker: str, progress: Progress | None = None, cancel: CancelToken | None = None
) -> WithoutWorker:
    """Fit again from where the run ended, once with all responses and once without this worker's.

    Both are fitted, so that what the worker changes is not mistaken for what a few more sweeps change.

    Parameters
    ----------
    run
        Where to begin.
    table
        The responses that count by now.
    worker
        Whom to leave out.
    progress, cancel
        Told and looked at every sweep.

    Raises
    ------
    UserError
        When the method has no model to fit again, the worker has no responses that count, or nobody else has.
    Cancelled
        When asked to stop.
    """
    if not can_leave_out(run):
        todo = "choose a run with the method crowdclustering"
        raise UserError(f"a run with {run.settings.method} cannot be fitted again without a worker", todo=todo)
    number = table.worker_names.index(worker) if worker in table.worker_names else -1
    own = table.worker_of_response == number
    if not own.any():
        raise UserError(f"no response of {worker} counts, so nothing would change", todo="choose another worker")
    others = table.take(np.flatnonzero(~own))
    if not others.n_pair_labels:
        raise UserError(f"nobody but {worker} has sorted anything", todo="collect more responses first")
    settings, beginning = _settings(run), _beginning(run, table)
    compile_kernels()
    sweeps = settings.layer_rounds + settings.max_iterations
    total = 2 * sweeps

    def report(before: int, what: str) -> Callable[[Snapshot], None]:
        def listen(snapshot: Snapshot) -> None:
            if progress:
                done = snapshot.iteration if snapshot.phase == "layers" else settings.layer_rounds
                done += snapshot.iteration if snapshot.phase == "joint" else 0
                progress(ProgressReport(before + min(done, sweeps), total, what))

        return listen

    found = []
    for step, (which, words) in enumerate(((table, "Fitting with everybody"), (others, f"Fitting without {worker}"))):
        listen = report(step * sweeps, words)
        found.append(refit(which, settings, beginning, listen, cancel))
    everybody, without = found
    both = (everybody > 0) & (without > 0)
    return WithoutWorker(
        worker=worker,
        vi_bits=max(0.0, variation_of_information(everybody[both], without[both]) / math.log(2)),
        moved=moved_items(everybody[both], without[both]),
        items=int(both.sum()),
        clusters=len(np.unique(without[without > 0])),
        clusters_with=len(np.unique(everybody[everybody > 0])),
        lost=int(((everybody > 0) & (without == 0)).sum()),
    )


def moved_items(before: NDArray[np.int64], after: NDArray[np.int64]) -> int:
    """How many items are in another cluster when clusters are matched so that as many as can be stay."""
    if not len(before):
        return 0

    _, first = np.unique(before, return_inverse=True)
    _, second = np.unique(after, return_inverse=True)
    counts = np.zeros((int(first.max()) + 1, int(second.max()) + 1), dtype=np.int64)
    np.add.at(counts, (first, second), 1)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return int(len(before) - counts[rows, columns].sum())


def _settings(run: Run) -> ResolvedSettings:
    """What the run was fitted with, what was chosen for it included."""
    asked, result = run.settings, run.result
    dimensions = result.positions.shape[1]
    chosen = result.summary.get("chosen") or {}
    weight = chosen.get("label_weight") if asked.label_weight == "auto" else asked.label_weight
    freedom = asked.degrees_of_freedom
    fitted = replace(
        asked,
        dimensions=dimensions,
        n_starts=1,
        n_clusters=result.responsibilities.shape[1],
        label_weight=float(weight or 1.0),
        degrees_of_freedom=None if freedom is None else max(freedom, dimensions - 0.5),
        tolerance=max(asked.tolerance, _TOLERANCE),
        folds=0,
    )
    return resolved(fitted)


def _beginning(run: Run, table: ResponseTable) -> WarmStart:
    """The run's end for the items and workers of the table; who or what came later begins in the middle."""
    result = run.result
    items = _places(run.item_names, table.item_names)
    workers = _places(run.worker_names, table.worker_names)
    D = result.positions.shape[1]

    def rows(values: Floats, places: NDArray[np.int64], otherwise: Floats) -> Floats:
        found = np.repeat(np.asarray(otherwise, dtype=np.float64)[None], len(places), axis=0)
        found[places >= 0] = values[places[places >= 0]]
        return found

    return WarmStart(
        positions=rows(result.positions, items, result.mixing @ result.means),
        position_variances=rows(result.position_variances, items, np.ones(D)),
        weights=rows(result.weights, workers, np.eye(D)),
        weight_variances=rows(result.weight_variances, workers, np.ones((D, D))),
        biases=rows(result.biases, workers, np.array(0.0)),
        bias_variances=rows(result.bias_variances, workers, np.array(1.0)),
    )


def _places(known: tuple[str, ...], wanted: tuple[str, ...]) -> NDArray[np.int64]:
    number_of = {name: number for number, name in enumerate(known)}
    return np.array([number_of.get(name, -1) for name in wanted], dtype=np.int64)
