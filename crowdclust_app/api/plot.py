"""Plots of fitted estimators as matplotlib figures; notebooks show them, `figure.savefig` writes them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from numpy.typing import NDArray

from crowdclust_app.domain.errors import InvalidInputError, NotFittedError
from crowdclust_app.domain.palette import OKABE_ITO
from crowdclust_app.domain.plots import MatrixPlots, Points
from crowdclust_app.inference.crowdclustering import Crowdclustering
from crowdclust_app.io.figures import draw_figure
from crowdclust_app.services.clusters.block_order import block_order

if TYPE_CHECKING:
    import pandas as pd

    from crowdclust_app.inference.aggregators.base import Aggregator

__all__ = ["confusion", "embedding", "reliability"]

MOST_MATRICES = 40
_MOST_NAMED = 30  # workers whose names still fit beside their points


class NotebookFigure(Figure):
    """A figure that a notebook shows also where `matplotlib.pyplot` was never imported."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def embedding(model: Crowdclustering) -> Figure:
    """Draw items on the first two Fisher axes, in the colours and with the numbers of their clusters.

    Parameters
    ----------
    model
        A fitted `Crowdclustering`.

    Returns
    -------
    Figure
        gomes2011, Figure 2, left.

    Raises
    ------
    NotFittedError
        When the model is not fitted.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> data = cc.simulate(n_items=40, n_clusters=3, seed=1)
    >>> model = cc.Crowdclustering(n_starts=1).fit(data.responses)
    >>> figure = cc.plot.embedding(model)
    """
    _check_fitted(model)
    shown = model.shown_
    found = len(model.mixing_)
    return draw_figure(
        Points(
            name="embedding",
            title=f"{found} cluster{'' if found == 1 else 's'}, mean entropy {model.entropy_bits_:.3f} bits",
            x_label="Fisher axis 1",
            y_label="Fisher axis 2",
            names=tuple(model.items_),
            at=np.where(shown[:, None], model.fisher_, np.nan),
            groups=model.labels_,
        ),
        make=NotebookFigure,
    )


def confusion(model: Crowdclustering, most: int = MOST_MATRICES) -> Figure:
    """Draw how likely each worker is to put items of two clusters together, a small matrix a worker.

    Parameters
    ----------
    model
        A fitted `Crowdclustering`.
    most
        How many workers at the most; the first of `model.workers_`.

    Returns
    -------
    Figure
        gomes2011, Figure 3; clusters that many workers put together lie beside each other.

    Raises
    ------
    NotFittedError
        When the model is not fitted.
    """
    _check_fitted(model)
    chosen = np.flatnonzero(model.answered_)[:most]
    order = block_order(model.confusion_[model.answered_])
    names = tuple(str(model.workers_[worker]) for worker in chosen)
    return draw_figure(
        MatrixPlots(
            name="confusion",
            title="How likely each worker is to put two clusters together",
            captions=names,
            owners=names,
            labels=tuple(str(1 + cluster) for cluster in order),
            values=model.confusion_[chosen][:, order][:, :, order],
            value_label="probability of one group",
        ),
        make=NotebookFigure,
    )


def reliability(table: pd.DataFrame | Aggregator) -> Figure:
    """Draw workers by false positive rate and sensitivity, with ellipses of one standard deviation.

    Parameters
    ----------
    table
        A fitted aggregator of two classes, or a data frame with the columns `worker`, `sensitivity` and `specificity`,
        and optionally `sensitivity_sd` and `specificity_sd`, as in `reliability.csv`.

    Returns
    -------
    Figure
        Good workers are at the upper left; who answers at random lies on the diagonal.

    Raises
    ------
    InvalidInputError
        When a column is missing, or no worker has a sensitivity (with more than two classes).
    NotFittedError
        When the aggregator is not fitted.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> model = cc.DawidSkene().fit(cc.simulate_labels(100, seed=1).labels)
    >>> figure = cc.plot.reliability(model)
    """
    columns = _reliability_columns(table)
    hits, false_alarms = columns["sensitivity"], 1.0 - columns["specificity"]
    if not np.isfinite(hits + false_alarms).any():
        raise InvalidInputError("no worker has a sensitivity and a specificity", todo="give labels of two classes")
    figure = NotebookFigure(figsize=(5.5, 5.0), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle="--")
    for x, y, width, height in zip(
        false_alarms, hits, columns["specificity_sd"], columns["sensitivity_sd"], strict=True
    ):
        if np.isfinite([x, y, width, height]).all():
            axes.add_patch(Ellipse((x, y), 2 * width, 2 * height, facecolor=OKABE_ITO[1], alpha=0.25, linewidth=0))
    axes.scatter(false_alarms, hits, s=18, color=OKABE_ITO[4], zorder=3)
    if len(hits) <= _MOST_NAMED:
        for name, x, y in zip(columns["worker"], false_alarms, hits, strict=True):
            axes.annotate(str(name), (x, y), (4, 3), textcoords="offset points", fontsize=7, parse_math=False)
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xlabel="1 - specificity", ylabel="sensitivity")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _reliability_columns(table: Any) -> dict[str, NDArray[Any]]:
    names = ("sensitivity", "specificity", "sensitivity_sd", "specificity_sd")
    if hasattr(table, "get_params"):
        if not hasattr(table, "workers_"):
            raise NotFittedError("this aggregator is not fitted", todo="call fit first")
        return {"worker": np.array(table.workers_, dtype=object)} | {name: getattr(table, f"{name}_") for name in names}
    missing = [name for name in ("worker", *names[:2]) if name not in table]
    if missing:
        raise InvalidInputError(f"the table has no column {missing[0]}", todo="give the columns of reliability.csv")
    size = len(table["worker"])
    columns = {name: np.asarray(table[name], dtype=float) if name in table else np.full(size, np.nan) for name in names}
    return {"worker": np.asarray(table["worker"], dtype=object), **columns}


def _check_fitted(model: Crowdclustering) -> None:
    if not hasattr(model, "labels_"):
        raise NotFittedError("this model is not fitted", todo="call fit first")
