"""How far each worker can be trusted: sensitivity against specificity, with what is not known yet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from crowdclust_app.gui.charts.chart import Chart
from crowdclust_app.gui.charts.series import ChartLine, ChartSeries
from crowdclust_app.services.verify.learning_results import LearntWorker
from crowdclust_app.services.verify.verdicts import WorkerReliability

ShownWorker = WorkerReliability | LearntWorker


class ReliabilityPlot(Chart):
    """One ellipse a worker: centre at the means, half-axes one standard deviation of the Beta posteriors.

    Who guesses lies on the dashed line.

    Parameters
    ----------
    false_alarms
        Whether what goes to the right is how often a worker says yes to what does not belong (as Raykar's Figure 1),
        and not how often no.
    size
        What is asked for; it grows with the room there is.

    Signals
    -------
    worker_pointed : ShownWorker or None
        The worker under the pointer or chosen by the arrow keys.
    """

    worker_pointed = Signal(object)
    keeps_point = True

    def __init__(self, name: str, parent: QWidget, size: QSize, false_alarms: bool = False) -> None:
        super().__init__(name, parent, left=58)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(180, 180)
        self._size = size
        self._false_alarms = false_alarms
        self.workers: tuple[ShownWorker, ...] = ()
        self.pointed.connect(lambda _point: self.worker_pointed.emit(self.chosen_worker))

    def sizeHint(self) -> QSize:
        """What is asked for."""
        return self._size

    def show_workers(self, workers: Sequence[ShownWorker]) -> None:
        """Show these workers; the chosen one stays so while it is among them."""
        kept = self.chosen_worker
        self.workers = tuple(workers)
        ends, falling = np.array([0.0, 1.0]), np.array([1.0, 0.0])
        alarms, title = ("1 − specificity", "false alarms and hits") if self._false_alarms else (
            "specificity", "specificity and sensitivity"
        )  # fmt: skip
        self.show_series(
            ChartSeries(
                title=f"Workers by {title}",
                x_label=alarms,
                y_label="sensitivity",
                x=np.array([self._to_the_right(worker) for worker in workers], dtype=np.float64),
                y=np.array([worker.sensitivity for worker in workers], dtype=np.float64),
                words=tuple(worker.name for worker in workers),
                error=np.array([worker.sensitivity_sd for worker in workers], dtype=np.float64),
                across=np.array([worker.specificity_sd for worker in workers], dtype=np.float64),
                spread="ellipses",
                names=tuple(worker.name for worker in workers),
                lines=(ChartLine(ends, ends if self._false_alarms else falling, "dashed"),),
                left=0.0,
                right=1.0,
                low=0.0,
                high=1.0,
                headline=False,
                square=True,
            )
        )
        self.choose(kept.number if kept is not None else None)
        self.worker_pointed.emit(self.chosen_worker)

    def _to_the_right(self, worker: ShownWorker) -> float:
        return 1.0 - worker.specificity if self._false_alarms else worker.specificity

    @property
    def chosen_worker(self) -> ShownWorker | None:
        """The worker whose point is described."""
        return self.workers[self.point] if self.point is not None and self.point < len(self.workers) else None

    def choose(self, number: int | None) -> None:
        """Tell about the worker of this number."""
        numbers = [worker.number for worker in self.workers]
        self.point_to(numbers.index(number) if number in numbers else None)

    def place_of(self, worker: ShownWorker) -> QPointF:
        """The middle of a worker's ellipse."""
        return self.point_at(self.workers.index(worker))

    def ellipse(self, worker: ShownWorker) -> QRectF:
        """The rectangle around a worker's ellipse."""
        wide, high = self.half_axes()[self.workers.index(worker)].tolist()
        centre = self.place_of(worker)
        return QRectF(centre.x() - wide, centre.y() - high, 2 * wide, 2 * high)
