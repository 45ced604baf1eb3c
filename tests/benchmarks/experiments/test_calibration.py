"""Two items go together about as often as a fit says."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.experiments.calibration import ROWS, Calibration, calibration_error, reliability, run_calibration
from benchmarks.experiments.results import Watch


def test_the_error_is_the_distance_of_chance_and_share_over_the_bins():
    chance = np.array([0.95, 0.95, 0.95, 0.95, 0.55, 0.55])
    together = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    even = np.ones(6)
    assert calibration_error(chance, together, even) == pytest.approx((4 * 0.2 + 2 * 0.05) / 6)
    assert [row[2] for row in reliability(chance, together, even)] == pytest.approx([1 / 3, 2 / 3])
    weight = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    assert calibration_error(chance, together, weight) == pytest.approx((3 * 0.05 + 0.45) / 4)
    assert calibration_error(np.ones(3), np.ones(3), np.ones(3)) == 0.0


def test_chances_are_calibrated_with_one_response_and_with_many():
    outcome = run_calibration(Calibration(27, ("one response", "five responses", "small clusters")), Watch())
    figures = {row[0]: dict(zip(("campaigns", "together", "chance", "error", "alone", "most"), row[1:], strict=True))
               for row in outcome.figures.rows}  # fmt: skip
    assert list(figures) == ["one response", "five responses", "small clusters"]
    # measured .050, .054 (one partition alone .41) and .000
    assert figures["one response"]["error"] < 0.10
    assert figures["five responses"]["error"] < 0.08
    assert figures["small clusters"]["error"] < 0.03
    assert figures["one response"]["most"] <= 0.9
    # one partition alone is far too sure of what five people said
    assert figures["five responses"]["error"] < 0.7 * figures["five responses"]["alone"]
    assert set(figures) < set(ROWS)
    assert len(outcome.sheets[0].rows) > 15
    assert "nearer the straight line is better" in outcome.panels[0].title
