"""The experiments of the paper on learning from radiologists, within the bars of docs/experts.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from benchmarks.experiments.raykar import FIGURES, SENSITIVITY, SPECIFICITY, Raykar, run_raykar, simulate_cases
from benchmarks.experiments.results import ExperimentResult, Watch
from benchmarks.radiologists import read_cases
from benchmarks.roc import auc
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.evaluation.label_simulation import LabelledTasks, SimulatedLabels

SMALL = (8, 10, 3)


def figures(outcome: ExperimentResult) -> dict[tuple[str, str], tuple]:
    return {row[:2]: row for row in outcome.figures.rows}


def exact_vote_auc(sensitivity: Sequence[float] = SENSITIVITY, specificity: Sequence[float] = SPECIFICITY) -> float:
    """Expected AUC of the share of positive votes, by going through every number of votes."""
    votes = []
    for chances in (np.array(sensitivity), 1.0 - np.array(specificity)):
        count = np.ones(1)
        for chance in chances:
            count = np.convolve(count, [1.0 - chance, chance])
        votes.append(count)
    below = np.cumsum(votes[1]) - votes[1]
    return float((votes[0] * (below + 0.5 * votes[1])).sum())


def test_the_area_of_the_votes_is_exact() -> None:
    assert exact_vote_auc() == pytest.approx(0.92075, abs=5e-6)
    assert exact_vote_auc((1.0,), (1.0,)) == 1.0
    assert exact_vote_auc((0.5,), (0.5,)) == pytest.approx(0.5)
    areas = [
        auc(cases.said.mean(axis=1), cases.truth)
        for cases in (simulate_cases(497, 1618, 3, seed) for seed in range(20))
    ]
    assert np.mean(areas) == pytest.approx(0.92075, abs=0.006)


def test_cases_have_the_papers_numbers() -> None:
    cases = simulate_cases(497, 1618, 27, 0)
    assert cases.X.shape == (2115, 27)
    assert cases.truth.sum() == 497
    positive = cases.truth == 1
    assert cases.said[positive].mean(axis=0) == pytest.approx(np.array(SENSITIVITY), abs=0.06)
    assert 1 - cases.said[~positive].mean(axis=0) == pytest.approx(np.array(SPECIFICITY), abs=0.04)
    assert (simulate_cases(20, 30, 2, 7).X == simulate_cases(20, 30, 2, 7).X).all()


def test_joint_learning_is_within_the_bars() -> None:
    """Label AUC, its distance to the votes, and the radiologists, for each seed as docs/experts.md has them."""
    outcome = run_raykar(Raykar((0, 1, 2), small=SMALL), read_cases, Watch())
    found = figures(outcome)
    assert outcome.figures.header == FIGURES
    least, most = 5, 6
    em = found["1", "label AUC, em"]
    assert em[least] >= 0.985
    assert em[most] <= 0.997
    assert 0.02 <= found["1", "label AUC, em less soft-vote posterior"][3] <= 0.05
    assert 0.055 <= found["1", "label AUC, em less vote share"][3] <= 0.09
    assert found["1", "largest error of a sensitivity, em"][6] <= 0.065
    assert found["1", "largest error of a specificity, em"][6] <= 0.03
    assert em[3] - found["2", "label AUC, dawid-skene"][3] >= 0.008
    assert found["1", "largest error of a sensitivity, majority"][3] > 0.15
    assert [panel.title.split(":")[0] for panel in outcome.panels] == ["Figure 1"] * 2 + ["Figure 2"] * 2 + ["Figure 3"]


def test_figure_four_draws_annotators() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 40)
    task, worker = np.nonzero(rng.random((40, 12)) < 0.5)
    label = np.where(rng.random(len(task)) < 0.8, truth[task], 1 - truth[task])
    known = LabelledTasks(SimulatedLabels(40, 12, task, worker, label), truth)
    chosen = Raykar((0,), positives=20, negatives=30, features=3, small=SMALL, rte=known, draws=3, counts=(4, 12))
    outcome = run_raykar(chosen, read_cases, Watch())
    found = figures(outcome)
    assert found["4", "accuracy of majority, 12 annotators"][2] == 3
    votes = found["4", "accuracy of majority, 12 annotators"]
    # with everybody the order does not matter
    assert votes[5] == votes[6]
    assert 0.8 < found["4", "accuracy of dawid-skene, 12 annotators"][3] <= 1.0
    panel = outcome.panels[-1]
    assert [curve.name for curve in panel.curves] == ["em", "majority"]
    assert tuple(panel.curves[0].x) == (4, 12)


def test_it_stops_when_asked() -> None:
    token = CancelToken()

    def stop(done: int, total: int, text: str) -> None:
        if "left out" in text:
            token.cancel()

    chosen = Raykar((0,), positives=20, negatives=30, features=3, small=SMALL)
    with pytest.raises(Cancelled):
        run_raykar(chosen, read_cases, Watch(stop, token))
