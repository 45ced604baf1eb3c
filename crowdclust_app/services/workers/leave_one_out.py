"""What the clusters of a run would be without one worker: its items moved on, with everybody and without."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.methods import METHODS
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation.metrics import variation_of_information
from crowdclust_app.inference.crowdclustering.model.parallel import no_check
from crowdclust_app.inference.crowdclustering.partitions.refitting import moved_on
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.progress_report import Progress, ProgressReport


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
    """Move the run's items on, once by all responses and once without this worker's.

    Both are done, so that what the worker changes is not mistaken for what responses since the run change.

    Parameters
    ----------
    run
        Where to begin.
    table
        The responses that count by now.
    worker
        Whom to leave out.
    progress, cancel
        Called at each of the two fits; polled often.

    Raises
    ------
    UserError
        When the method has no model to fit again, the worker has no responses that count, or no other worker has.
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
    labels = _labels(run, table)
    individual, check = run.settings.method != "consensus", cancel.check if cancel else no_check
    found = []
    for done, (which, words) in enumerate(((table, "Fitting with everybody"), (others, f"Fitting without {worker}"))):
        check()
        if progress:
            progress(ProgressReport(done, 2, words))
        found.append(moved_on(which, labels, individual, check))
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


def _labels(run: Run, table: ResponseTable) -> NDArray[np.int64]:
    """The run's clusters for the items of the table; 0 for those that came later."""
    number_of = {name: number for number, name in enumerate(run.item_names)}
    places = np.array([number_of.get(name, -1) for name in table.item_names], dtype=np.int64)
    return np.where(places >= 0, run.result.labels[places], 0)
