"""The experiments of raykar2009 on simulated cases: their mammograms and breast scans are not public.

Cases have Gaussian features with the paper's numbers of positives, negatives and features, and features that are as
good as the paper's (the best possible AUC is .915). The radiologists have the paper's sensitivities and specificities.
The paper does not say which score of the majority its ROC curve of the estimated truth is drawn from; each row says
which one it is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np

from benchmarks.experiments.results import ExperimentResult, ResultSheet, Watch, curve, curves, grouped, mean_and_sd
from benchmarks.roc import auc, ellipse, roc
from crowdclust_app.domain.plots import Curve, Curves
from crowdclust_app.evaluation.label_simulation import Codes, Floats, LabelledTasks

SENSITIVITY = (0.90, 0.80, 0.57, 0.60, 0.55)
SPECIFICITY = (0.95, 0.85, 0.62, 0.65, 0.58)
BEST_AUC = 0.915

EM, DS, MAJORITY, SOFT, DECOUPLED, GOLD = "em", "dawid-skene", "majority", "soft-votes", "decoupled", "gold"
"""Joint learning; coins alone; hard majority; coins counted against votes; coins, then a classifier; the truth."""

TRIALS = ("figure", "quantity", "seed", "value")
FIGURES = ("figure", "quantity", "seeds", "mean", "sd", "least", "most", "expected")

# What docs/experts.md, section 13, measured, and the paper where it says so.
EXPECTED = {
    "label AUC, em": 0.9924,
    "label AUC, dawid-skene": 0.9781,
    "label AUC, vote share": 0.9205,
    "label AUC, hard majority": 0.856,
    "label AUC, soft-vote posterior": 0.9597,
    "label AUC, em less soft-vote posterior": 0.0328,
    "label AUC, em less vote share": 0.0719,
    "label accuracy, em": 0.968,
    "label accuracy, majority": 0.874,
    "classifier AUC, em": 0.9193,
    "classifier AUC, gold": 0.9207,
    "classifier AUC, majority": 0.9128,
    "classifier AUC, decoupled": 0.918,
    "largest error of a sensitivity, em": 0.038,
    "largest error of a specificity, em": 0.016,
    "largest error of a sensitivity, majority": 0.192,
    "largest error of a specificity, majority": 0.070,
}


@dataclass(frozen=True, slots=True)
class Cases:
    """Cases with features, truth and everybody's answers.

    Parameters
    ----------
    X : ndarray of shape (N, D)
    truth : ndarray of shape (N,)
        1 or 0.
    said : ndarray of shape (N, R)
        1 or 0; -1 where nobody was asked.
    """

    X: Floats
    truth: Codes
    said: Codes


@dataclass(frozen=True, slots=True)
class Reading:
    """What a method makes of cases.

    Parameters
    ----------
    labels : ndarray of shape (N,)
        Probability of a positive, from answers and (where the method looks at them) features.
    classifier : ndarray of shape (M,)
        Score of the classifier that was learnt, on the cases for the test; empty for a method without one.
    sensitivity, specificity, sensitivity_sd, specificity_sd : ndarray of shape (R,)
        Empty for a method that does not say.
    """

    labels: Floats
    classifier: Floats
    sensitivity: Floats
    specificity: Floats
    sensitivity_sd: Floats
    specificity_sd: Floats


class Reader(Protocol):
    """A method that learns from radiologists, by its name."""

    def __call__(self, method: str, cases: Cases, test: Floats) -> Reading:
        """Learn from cases, and score others; the truth is for the method `gold` alone."""
        ...


@dataclass(frozen=True, slots=True)
class Raykar:
    """What is tried.

    Parameters
    ----------
    seeds
        Of cases and answers.
    positives, negatives, features
        As in the paper's mammograms.
    small
        Positives, negatives and features of the small set, as in its breast scans; each case is left out once.
    rte
        Labels of many annotators without features, for Figure 4; None leaves it out.
    draws
        How often annotators are drawn for it.
    counts
        How many of them.
    """

    seeds: tuple[int, ...]
    positives: int = 497
    negatives: int = 1618
    features: int = 27
    small: tuple[int, int, int] = (28, 47, 8)
    rte: LabelledTasks | None = None
    draws: int = 20
    counts: tuple[int, ...] = (20, 40, 60, 80, 100, 120, 140, 160)


def simulate_cases(
    positives: int, negatives: int, features: int, seed: int, radiologists: int = len(SENSITIVITY)
) -> Cases:
    """Draw cases: up to six features carry what there is to see, mildly mixed with the others.

    Parameters
    ----------
    positives, negatives, features, seed
        As in `Raykar`.
    radiologists
        The first so many of the paper's.
    """
    rng = np.random.default_rng([seed, 2009])
    truth = np.concatenate([np.ones(positives, np.int64), np.zeros(negatives, np.int64)])
    X = rng.normal(size=(len(truth), features))
    carrying = min(6, features)
    distance = np.sqrt(2.0) * NormalDist().inv_cdf(BEST_AUC)
    X[:, :carrying] += truth[:, None] * distance / np.sqrt(carrying)
    X = X @ (np.eye(features) + 0.2 * rng.normal(size=(features, features)) / np.sqrt(features))
    hits, rejections = np.array(SENSITIVITY[:radiologists]), np.array(SPECIFICITY[:radiologists])
    right = rng.random((len(truth), radiologists)) < np.where(truth[:, None] == 1, hits, rejections)
    return Cases(X, truth, np.where(right, truth[:, None], 1 - truth[:, None]))


def run_raykar(settings: Raykar, read: Reader, watch: Watch) -> ExperimentResult:
    """Do the paper's Figures 1 to 4.

    Parameters
    ----------
    settings
        What is tried.
    read
        Runs a method.
    watch
        Told before every trial; may cancel.
    """
    total = 2 * len(settings.seeds) + (len(settings.counts) if settings.rte is not None else 0)
    rows: list[tuple[Any, ...]] = []
    panels: list[Curves] = []
    for number, seed in enumerate(settings.seeds):
        watch.at(number, total, f"mammograms, seed {seed}")
        cases = simulate_cases(settings.positives, settings.negatives, settings.features, seed)
        found = {method: read(method, cases, cases.X) for method in (EM, DS, MAJORITY, SOFT, DECOUPLED, GOLD)}
        rows += [(figure, name, seed, value) for figure, name, value in _mammograms(cases, found)]
        if not number:
            panels += _curves(cases, found)
    for number, seed in enumerate(settings.seeds):
        watch.at(len(settings.seeds) + number, total, f"small set, each case left out once, seed {seed}")
        cases = simulate_cases(*settings.small, seed, radiologists=4)
        scores = _leave_one_out(cases, read, watch)
        rows += [("3", f"left-out AUC, {method}", seed, auc(score, cases.truth)) for method, score in scores.items()]
        labels = read(EM, cases, cases.X).labels
        rows.append(("3", "label AUC, em", seed, auc(labels, cases.truth)))
        rows.append(("3", "label AUC, vote share", seed, auc(_votes(cases.said), cases.truth)))
        if not number:
            lines = [
                _line(f"{method}, AUC {auc(score, cases.truth):.3f}", score, cases) for method, score in scores.items()
            ]
            panels.append(_roc_panel("Figure 3: classifier, small set, left out", lines))
    if settings.rte is not None:
        of_four = list(_annotators(settings, settings.rte, read, watch, 2 * len(settings.seeds), total))
        rows += of_four
        panels.append(_figure_four(of_four))
    figures = tuple(
        (*key, len(values), *mean_and_sd(values), min(values), max(values),
         EXPECTED.get(key[1]) if key[0] in "12" else None)
        for key, of_one in grouped(rows, 2).items()
        for values in ([row[3] for row in of_one],)
    )  # fmt: skip
    return ExperimentResult(
        ResultSheet("trials", TRIALS, tuple(rows)), ResultSheet("raykar", FIGURES, figures), tuple(panels)
    )


def _mammograms(cases: Cases, found: dict[str, Reading]) -> Iterator[tuple[str, str, float]]:
    truth, shares = cases.truth, _votes(cases.said)
    scores = {
        "em": found[EM].labels,
        "dawid-skene": found[DS].labels,
        "vote share": shares,
        "hard majority": (shares > 0.5).astype(np.float64),
        "soft-vote posterior": found[SOFT].labels,
    }
    areas = {name: auc(score, truth) for name, score in scores.items()}
    for name, area in areas.items():
        yield "2" if name == "dawid-skene" else "1", f"label AUC, {name}", area
    yield "1", "label AUC, em less soft-vote posterior", areas["em"] - areas["soft-vote posterior"]
    yield "1", "label AUC, em less vote share", areas["em"] - areas["vote share"]
    for name, score in (("em", found[EM].labels), ("majority", shares)):
        yield "1", f"label accuracy, {name}", float(((score > 0.5) == (truth == 1)).mean())
    for method in (EM, GOLD, MAJORITY):
        yield "1", f"classifier AUC, {method}", auc(found[method].classifier, truth)
    yield "2", "classifier AUC, decoupled", auc(found[DECOUPLED].classifier, truth)
    for method in (EM, MAJORITY):
        for what, values, true in (
            ("sensitivity", found[method].sensitivity, SENSITIVITY),
            ("specificity", found[method].specificity, SPECIFICITY),
        ):
            yield "1", f"largest error of a {what}, {method}", float(np.abs(values - np.array(true)).max())


def _curves(cases: Cases, found: dict[str, Reading]) -> Iterator[Curves]:
    def area(score: Floats) -> str:
        return f"AUC {auc(score, cases.truth):.3f}"

    learnt = [(name, found[name].classifier) for name in (GOLD, EM, MAJORITY)]
    yield _roc_panel("Figure 1: classifier", [_line(f"{name}, {area(score)}", score, cases) for name, score in learnt])
    shares = _votes(cases.said)
    em, votes = f"em, {area(found[EM].labels)}", f"vote share, {area(shares)}"
    lines = [_line(em, found[EM].labels, cases), _line(votes, shares, cases)]
    for one, name in ((found[EM], em), (found[MAJORITY], votes)):
        for row, true in enumerate(zip(1.0 - np.array(SPECIFICITY), SENSITIVITY, strict=True)):
            point = 1.0 - float(one.specificity[row]), float(one.sensitivity[row])
            # from the truth to the estimate, as in the paper
            lines.append(curve("", (float(true[0]), point[0]), (float(true[1]), point[1]), like=name))
            if one is found[EM]:
                x, y = ellipse(point, (float(one.specificity_sd[row]), float(one.sensitivity_sd[row])))
                lines.append(curve("", x, y, like=name))
    yield _roc_panel("Figure 1: labels; readers, true to estimated", lines)
    both = [("joint", found[EM].classifier), ("decoupled", found[DECOUPLED].classifier)]
    yield _roc_panel("Figure 2: classifier", [_line(f"{name}, {area(score)}", score, cases) for name, score in both])
    both = [("joint", found[EM].labels), ("decoupled", found[DS].labels)]
    yield _roc_panel(
        "Figure 2: estimated labels", [_line(f"{name}, {area(score)}", score, cases) for name, score in both]
    )


def _leave_one_out(cases: Cases, read: Reader, watch: Watch) -> dict[str, Floats]:
    scores = {method: np.empty(len(cases.truth)) for method in (GOLD, EM, MAJORITY)}
    for left in range(len(cases.truth)):
        watch.check()
        kept = np.arange(len(cases.truth)) != left
        others = Cases(cases.X[kept], cases.truth[kept], cases.said[kept])
        for method, score in scores.items():
            score[left] = read(method, others, cases.X[left : left + 1]).classifier[0]
    return scores


def _annotators(
    settings: Raykar, known: LabelledTasks, read: Reader, watch: Watch, done: int, total: int
) -> Iterator[tuple[Any, ...]]:
    """Figure 4: accuracy of the estimated truth for the first so many of the annotators in random order."""
    labels, truth = known.labels, known.truth
    said = np.full((labels.n_tasks, labels.n_workers), -1, dtype=np.int64)
    said[labels.task, labels.worker] = labels.label
    orders = [np.random.default_rng([seed, 4]).permutation(labels.n_workers) for seed in range(settings.draws)]
    for number, count in enumerate(settings.counts):
        watch.at(done + number, total, f"{count} annotators")
        for draw, order in enumerate(orders):
            watch.check()
            chosen = said[:, order[:count]]
            judged = np.flatnonzero((chosen >= 0).any(axis=1) & (truth >= 0))
            cases = Cases(np.zeros((len(judged), 0)), truth[judged], chosen[judged])
            for method in (DS, MAJORITY):
                score = read(method, cases, cases.X[:0]).labels if method == DS else _votes(cases.said)
                right = np.where(score == 0.5, 0.5, (score > 0.5) == (cases.truth == 1))
                yield "4", f"accuracy of {method}, {count} annotators", draw, float(right.mean())


def _figure_four(rows: Sequence[tuple[Any, ...]]) -> Curves:
    lines = []
    for method in (DS, MAJORITY):
        points = []
        for (_, name), of_one in grouped(rows, 2).items():
            if name.startswith(f"accuracy of {method},"):
                points.append((int(name.split(", ")[1].split()[0]), *mean_and_sd(row[3] for row in of_one)))
        x, y, spread = zip(*points, strict=True)
        lines.append(curve("em" if method == DS else method, x, y, spread))
    return curves("Figure 4: recognising textual entailment", "annotators", "accuracy", lines)


def _votes(said: Codes) -> Floats:
    """Share of positive answers; shape (N,)."""
    asked = said >= 0
    return np.asarray(np.where(asked, said, 0).sum(axis=1) / np.maximum(asked.sum(axis=1), 1))


def _line(name: str, score: Floats, cases: Cases) -> Curve:
    false, true = roc(score, cases.truth)
    return curve(name, false.tolist(), true.tolist())


def _roc_panel(title: str, lines: Sequence[Curve]) -> Curves:
    return curves(title, "false positive rate", "true positive rate", lines)
