"""Learnt workers as ROC points: false alarms against hits, with one-standard-deviation ellipses (Raykar, Figure 1)."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QRectF, QSize
from PySide6.QtWidgets import QWidget

from crowdclust_app.gui.verify.reliability_plot import ReliabilityPlot, WorkerEllipse
from crowdclust_app.gui.wording import count_of
from crowdclust_app.services.verify.learning_results import LearntWorker


class RocPlot(ReliabilityPlot):
    """One ellipse a worker, centred at (1 - specificity, sensitivity); whoever guesses lies on the dashed line."""

    ACROSS = "1 − specificity"

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("roc-plot")
        self.setAccessibleName("Workers by false alarms and hits")

    def sizeHint(self) -> QSize:
        """Small enough to be seen whole below the warnings; it grows with the room there is."""
        return QSize(240, 200)

    def across(self, worker: WorkerEllipse) -> float:
        """False alarms: how often the worker says yes to what does not belong."""
        return 1.0 - worker.specificity

    def guessing(self, area: QRectF) -> QLineF:
        """As many hits as false alarms."""
        return QLineF(area.bottomLeft(), area.topRight())


def about_worker(worker: LearntWorker) -> str:
    """What was learnt of a worker, in words."""
    low, high = worker.interval
    return (
        f"{worker.name}, {count_of(worker.labels, 'answer')}: right {worker.expertise:.2f}, 95 % {low:.2f}–{high:.2f}\n"
        f"sensitivity {worker.sensitivity:.2f} ± {worker.sensitivity_sd:.2f}, "
        f"specificity {worker.specificity:.2f} ± {worker.specificity_sd:.2f}"
    )
