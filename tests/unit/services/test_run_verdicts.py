"""What a run says of itself in words: structure, a trace of it, or none."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from crowdclust_app.domain.responses import ResponseTable
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign
from crowdclust_app.services.fitting import FitSettings, fit_table
from crowdclust_app.services.run_verdicts import convergence_sentence, structure, structure_sentence


def heldout(gain: float, error: float) -> SimpleNamespace:
    return SimpleNamespace(
        pairs=100, loglik=-0.5 + gain, base_loglik=-0.5, gain=gain, gain_se=error, accuracy=0.8, folds=5
    )


@pytest.mark.parametrize(
    ("gain", "error", "expected", "words"),
    [
        (0.1, 0.01, "found", "There is structure"),
        (0.1, 0.06, "none", "No structure found:"),
        (0.02, 0.001, "trace", "No structure found that is of use"),
        (0.004, 0.0001, "none", "No structure found:"),
        (-0.01, 0.001, "none", "No structure found:"),
    ],
)
def test_structure_has_to_be_sure_and_of_a_size_that_matters(gain, error, expected, words) -> None:
    assert structure(heldout(gain, error)) == expected
    assert structure_sentence(heldout(gain, error)).startswith(words)


def test_where_nothing_was_predicted_nothing_is_said_of_structure() -> None:
    assert structure(None) is None
    assert structure(SimpleNamespace(pairs=0)) is None
    assert "could be held out" in structure_sentence(None)


def test_a_lead_is_told_whether_it_matters_that_a_fit_has_not_converged() -> None:
    arrays = {"n_iterations": 100, "converged": False, "lower_bounds": [("layers", -9.0)] + [("joint", -100.0)] * 30}
    paper = {"method": "crowdclustering", "clusters": "bound"}
    assert convergence_sentence(paper, arrays).endswith("its figures could still change.")
    settled = convergence_sentence(paper, arrays | {"n_unchanged": 60})
    assert "no item changed its cluster in the last 60: the clusters are settled" in settled
    assert convergence_sentence(paper, arrays | {"converged": True}) == "The fit converged after 100 joint iterations."
    chosen = convergence_sentence(paper | {"clusters": "heldout"}, arrays | {"n_unchanged": 100})
    assert "no item" not in chosen
    assert "The clusters were settled before these iterations" in chosen
    bounds = tuple(("joint", -1000.0 + 0.001 * n) for n in range(20))
    assert "by less than 0.01% in the last" in convergence_sentence(
        paper | {"clusters": 3}, arrays | {"lower_bounds": bounds}
    )


def shuffled(table: ResponseTable, seed: int) -> ResponseTable:
    """The same groups, every response's items dealt over them at random."""
    random = np.random.default_rng(seed)
    groups = table.groups.copy()
    for start, end in zip(table.response_ptr[:-1], table.response_ptr[1:], strict=True):
        groups[start:end] = random.permutation(groups[start:end])
    parts = {name: getattr(table, name) for name in table.__dataclass_fields__}
    return ResponseTable(**parts | {"groups": groups})


@pytest.mark.parametrize("seed", range(3))
def test_a_campaign_has_structure_and_the_same_groups_without_their_items_have_none(seed: int) -> None:
    quick = FitSettings(dimensions=2, starts=1, folds=3, seed=seed)
    simulation = SimulationSettings(
        items=60, clusters=3, items_per_hit=8, redundancy=6, workers_per_hit=2, workers=10, seed=seed
    )
    table = simulate_campaign(simulation).table
    assert fit_table(table, quick).summary["structure"] == "found"
    noise = fit_table(shuffled(table, seed), quick)
    assert noise.summary["structure"] == "none"
    assert any(sentence.startswith("No structure found:") for sentence in noise.summary["verdicts"])
