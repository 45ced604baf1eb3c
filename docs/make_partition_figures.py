"""Draw `partitions.png`, the pictures of the steps in partitions.md: `python docs/make_partition_figures.py`."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from scipy.cluster.hierarchy import dendrogram

from crowdclust_app.domain.partition import canonical_groups
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.inference.crowdclustering.model.canonical_order import ordered
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers
from crowdclust_app.inference.crowdclustering.partitions.candidates import candidates_of, pair_counts
from crowdclust_app.inference.crowdclustering.selection.curve import ERRORS_OF_CLUSTERS, Work
from crowdclust_app.inference.crowdclustering.selection.partitioning import PartOfDesign, partition_items, share_on_axes

BLUE, ORANGE, GREY = "#0072b2", "#e69f00", "#999999"
KINDS = np.repeat(np.arange(6), [14, 12, 10, 8, 5, 5])


def table_of(places: np.ndarray, cut_anywhere: bool) -> ResponseTable:
    """Twelve people sort sets of 14 items: by kind, some taking two kinds for one, or by cuts of a line anywhere."""
    random = np.random.default_rng(1)
    responses = []
    for number in range(192 if cut_anywhere else 48):
        items = random.permutation(len(places))[:14]
        seen = places[items]
        if cut_anywhere:
            groups = np.searchsorted(np.sort(random.random(random.integers(2, 6))), seen)
        else:
            seen = np.where((number % 12 < 4) & (seen == 1), 0, seen)
            groups = np.where(random.random(14) < 0.04, random.integers(0, 6, 14), seen)
        named = tuple(str(group) for group in canonical_groups(groups.tolist()))
        responses.append(Response(f"h{number}", f"w{number % 12}", tuple(f"i{i:02}" for i in items), named))
    return ResponseTable.from_responses(responses)


def found_in(table: ResponseTable) -> tuple[Answers, PartOfDesign, np.ndarray]:
    """Answers, the partition of their only part, and chances with the items in order of their clusters."""
    answers = Answers.of(ordered(table).table)
    found = partition_items(answers, None, 5, 2, 0, Work())
    return answers, found.parts[0], found.chances[np.argsort(found.partition, kind="stable")]


def draw_decision(axes: Axes, part: PartOfDesign) -> None:
    """The chances of one item of the second cluster beside groups of three items of one cluster each."""
    fit = part.fit
    score = np.append(fit.common[0] * fit.affinity[1] + fit.common[2] * np.log(3.0), fit.common[1])
    chance = np.exp(score) / np.exp(score).sum()
    names = [f"3 of {k + 1}" for k in range(fit.n_clusters)] + ["alone"]
    axes.bar(names, chance, color=[GREY, BLUE] + [GREY] * (fit.n_clusters - 1))
    axes.set_ylabel("chance")
    axes.tick_params(axis="x", labelrotation=60)


def draw_number(axes: Axes, part: PartOfDesign) -> None:
    """The held-out curve, with two standard errors of the difference to the best."""
    assert part.curve is not None
    best = part.curve.best()
    lacking = part.curve.loglik[best] - part.curve.loglik
    error = lacking.std(axis=1, ddof=1) * np.sqrt(lacking.shape[1]) * ERRORS_OF_CLUSTERS
    axes.errorbar(part.curve.numbers, lacking.sum(axis=1), error, color=BLUE, capsize=2)
    axes.axvline(part.fit.n_clusters, color=ORANGE)
    axes.set_yscale("symlog", linthresh=20)
    axes.set_ylabel("held-out nats behind the best")
    axes.set_xlabel("clusters")


def main() -> None:
    """Draw all of it."""
    answers, part, chances = found_in(table_of(KINDS, False))
    line = np.random.default_rng(0).random(54)
    _, of_line, _ = found_in(table_of(line, True))
    figure, grid = pyplot.subplots(2, 4, figsize=(13, 6), dpi=100, layout="constrained")
    decision, crowd, workers, candidates, path, number, sure, gaps = grid.ravel()
    draw_decision(decision, part)
    crowd.imshow(part.fit.affinity, cmap="cividis")
    workers.scatter(part.fit.workers[:, 0], part.fit.workers[:, 1], color=BLUE)
    workers.set(xlabel="log slope", ylabel="bias")
    tree = candidates_of(answers, pair_counts(answers)).average
    dendrogram(tree, ax=candidates, no_labels=True, color_threshold=0.0, above_threshold_color=GREY)
    fits = sorted(part.fits.items())
    path.plot([K for K, _ in fits], [fit.loglik for _, fit in fits], ".-", color=BLUE)
    path.set(xlabel="clusters", ylabel="log-likelihood")
    draw_number(number, part)
    sure.imshow(chances, aspect="auto", cmap="cividis", vmin=0, vmax=1)
    sure.set(xlabel="cluster", ylabel="item")
    shares = [share_on_axes(each.fit)[0] for each in (part, of_line)]
    gaps.bar(["six kinds", "a line"], shares, color=[BLUE, ORANGE])
    gaps.set_ylabel("spread on one axis")
    steps = ("the decision", "the crowd", "the workers", "candidates", "every number", "the number", "how sure", "gaps")
    for place, (axes, step) in enumerate(zip(grid.ravel(), steps, strict=True), start=1):
        axes.set_title(f"{place}. {step}", fontsize=10)
    figure.savefig(Path(__file__).parent / "partitions.png")


if __name__ == "__main__":
    main()
