"""Without features the learners are what they say they are: Dawid and Skene's method, on a published set."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdclust_app.inference.aggregators import DawidSkene, encode_labels
from crowdclust_app.inference.aggregators.scoring import score
from crowdclust_app.inference.experts import GaussianProcessExperts, Learner, LogisticExperts
from crowdclust_app.inference.experts.features import NO_FEATURES
from crowdclust_app.io.label_tables import read_labels
from crowdclust_app.io.tables import read_truth


@pytest.mark.parametrize("kind", [LogisticExperts, GaussianProcessExperts])
@pytest.mark.parametrize(("data", "expected"), [("bluebirds", 0.102), ("rte", 0.072), ("temp", 0.058)])
def test_without_features_the_figures_are_dawid_and_skenes(
    shared_data: Path, kind: type[Learner], data: str, expected: float
) -> None:
    folder = shared_data / "labels" / data
    rows = read_labels(folder / "labels.csv")
    table = encode_labels(rows.task, rows.worker, rows.label)
    truth = read_truth(folder / "truth.csv")
    known = DawidSkene(tolerance=1e-8).fit_encoded(table)
    learner = kind().fit(None, table)
    found, reference = score(learner, truth), score(known, truth)  # type: ignore[arg-type]
    assert found.error == pytest.approx(expected, abs=1.5e-3)
    assert found.error == pytest.approx(reference.error, abs=1.5e-3)
    assert found.log_loss == pytest.approx(reference.log_loss, rel=0.02)
    assert NO_FEATURES in learner.notes_
