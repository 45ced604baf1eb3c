"""Who did how much, how far workers agree before any model, and how well each is predicted."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.charts.chart import Chart
from crowdclust_app.gui.charts.series import ChartLine, ChartSeries
from crowdclust_app.gui.wording import count_of, signed
from crowdclust_app.services.fits.results import FitResult
from crowdclust_app.services.workers.study import WorkerStudy
from crowdclust_app.services.workers.worker_rows import WorkerRow, one_cluster

ONE_CLUSTER = "In a run of one cluster nobody can be predicted better than a worker who sorts at random."


class WorkPage(QWidget):
    """Rank plot, Pareto curve and agreement.

    Signals
    -------
    chosen : str
        A worker.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("work-page")
        self.agreement = _words(self, "agreement-words")
        self.share = _words(self, "pareto-words")
        self.rank = Chart("rank-chart", self)
        self.pareto = Chart("pareto-chart", self)
        self._ranked: list[str] = []
        self.rank.chosen.connect(self._choose)
        charts = QGridLayout()
        charts.setSpacing(theme.MARGIN)
        charts.addWidget(self.rank, 0, 0)
        charts.addWidget(self.pareto, 0, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.STEP)
        layout.addWidget(self.agreement)
        layout.addWidget(self.share)
        layout.addLayout(charts, 1)

    def show_work(self, workers: tuple[WorkerRow, ...], study: WorkerStudy | None) -> None:
        """Show who did how much, and how far they agree."""
        self.agreement.setText(agreement_words(study))
        busy = sorted((row for row in workers if row.hits), key=lambda row: (-row.hits, row.name))
        self._ranked = [row.name for row in busy]
        hits = np.array([row.hits for row in busy], dtype=np.float64)
        ranks = np.arange(1.0, len(busy) + 1)
        words = tuple(f"{row.name}, {count_of(row.hits, 'HIT')}" for row in busy)
        nobody = "Nobody has sorted anything yet."
        rank = ChartSeries("HITs by rank of the worker", "rank of the worker", "", ranks, hits, words, low=0.0)
        self.rank.show_series(rank if len(busy) else None, nobody)
        done = np.concatenate([[0.0], np.cumsum(hits) / max(hits.sum(), 1.0)])
        share = np.linspace(0.0, 1.0, len(done))
        told = tuple(
            f"The most active {count_of(k, 'worker')} of {len(busy)}: {100 * done[k]:.0f} % of the HITs"
            for k in range(len(done))
        )
        even = np.array([0.0, 1.0])
        curve = ChartSeries(
            "HITs done by the most active",
            "share of the workers",
            "share",
            share,
            done,
            told,
            lines=(ChartLine(share, done), ChartLine(even, even, "dashed")),
            low=0.0,
            high=1.0,
            left=0.0,
        )
        self.pareto.show_series(curve if len(busy) else None, nobody)
        self.share.setText(pareto_words(hits))

    def _choose(self, index: int) -> None:
        if index < len(self._ranked):
            self.chosen.emit(self._ranked[index])


class PredictedPage(QWidget):
    """How much better each worker is predicted than one who does not look, with error bars.

    Signals
    -------
    chosen : str
        A worker.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("predicted-page")
        self.words = _words(self, "predicted-words")
        self.chart = Chart("predicted-chart", self)
        self._names: list[str] = []
        self.chart.chosen.connect(self._choose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.STEP)
        layout.addWidget(self.words)
        layout.addWidget(self.chart, 1)

    def show_workers(self, workers: tuple[WorkerRow, ...], result: FitResult | None) -> None:
        """Show the workers of whom something was held out, the best predicted first."""
        known = [row for row in workers if row.over_random is not None and row.over_random_se is not None]
        known.sort(key=lambda row: (-(row.over_random or 0.0), row.name))
        self._names = [row.name for row in known]
        if not known:
            why = "This needs a run of the inference."
            if result is not None:
                why = ONE_CLUSTER if one_cluster(result) else "Nothing was held out in this run."
            self.words.setText("")
            self.chart.show_series(None, why)
            return
        gains = np.array([row.over_random for row in known], dtype=np.float64)
        errors = 2.0 * np.array([row.over_random_se for row in known], dtype=np.float64)
        unsure = frozenset(np.flatnonzero(gains <= errors).tolist())
        told = tuple(
            f"{row.name}: {signed(gain)} ± {error / 2:.2f} nats held out"
            for row, gain, error in zip(known, gains, errors, strict=True)
        )
        series = ChartSeries(
            "Predicted better than a random worker",
            "workers, the best predicted first",
            "nats held out, ± 2 standard errors",
            np.arange(1.0, len(known) + 1),
            gains,
            told,
            error=errors,
            ground=(0.0, "the random worker"),
            marked=unsure,
        )
        self.chart.show_series(series)
        poor = [self._names[k] for k in sorted(unsure)]
        listed = ", ".join(poor[:5]) + (f" and {len(poor) - 5} more" if len(poor) > 5 else "")
        self.words.setText(
            f"{count_of(len(poor), 'worker')} of {len(known)} no better predicted than at random: {listed}."
            if poor
            else f"All {len(known)} workers are surely better predicted than one who sorts at random."
        )

    def _choose(self, index: int) -> None:
        if index < len(self._names):
            self.chosen.emit(self._names[index])


def agreement_words(study: WorkerStudy | None) -> str:
    """How far workers agree before any model."""
    if study is None:
        return ""
    found = study.agreement
    if found is None:
        return "No two workers have judged the same two photos yet, so nothing says how far they agree."

    def within(interval: tuple[float, float] | None, times: float, form: str, unit: str) -> str:
        if not interval:
            return ""
        low, high = (f"{times * end:{form}}" for end in interval)
        return f" (95 % interval {low} to {high}{unit})"

    words = (
        f"Before any model: two workers say the same of {100 * found.agreement:.1f} % of the pairs of photos that both "
    )
    words += "saw" + within(found.agreement_interval, 100.0, ".1f", " %")
    if found.alpha is None:
        words += "; all say the same of every pair, so Krippendorff's alpha is not defined"
    else:
        words += f"; Krippendorff's alpha {found.alpha:.2f}{within(found.alpha_interval, 1.0, '.2f', '')}"
        words += ", where 1 is complete agreement and 0 what chance gives"
    words += f". {found.pairs:,} pairs from {count_of(found.hits, 'HIT')}"
    return words + (f", drawn at random, {100 * found.share:.0f} % of the responses." if found.share < 1 else ".")


def pareto_words(hits: np.ndarray) -> str:
    """What the most active fifth of the workers did; `hits` has the most active first."""
    if len(hits) < 2:
        return ""
    fifth = max(1, round(len(hits) / 5))
    done = hits[:fifth].sum() / hits.sum()
    return f"The most active {count_of(fifth, 'worker')} of {len(hits)} did {100 * done:.0f} % of the HITs."


def _words(parent: QWidget, name: str) -> QLabel:
    label = QLabel(parent)
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
