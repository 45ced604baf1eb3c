"""What a run says of itself in words: structure, a trace of it, or none."""

# mypy: disable-error-code="arg-type"
# stand-ins have what is used alone

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign
from crowdclust_app.inference.crowdclustering.selection.heldout import DECISION, PAIR_LABEL
from crowdclust_app.services.fits.fitting import fit_table
from crowdclust_app.services.fits.verdicts import (
    choice_sentence,
    convergence_sentence,
    lost_clusters_sentence,
    one_cluster_sentence,
    structure,
    structure_sentence,
)
from crowdclust_app.services.workers.worker_rows import RANDOM, worker_rows


def heldout(gain: float, error: float, unit: str = PAIR_LABEL) -> SimpleNamespace:
    return SimpleNamespace(
        scored=100, unit=unit, loglik=-0.5 + gain, base_loglik=-0.5, gain=gain, gain_se=error, accuracy=0.8, folds=5
    )


@pytest.mark.parametrize(
    ("gain", "error", "expected", "words"),
    [
        (0.3, 0.01, "found", "There is structure: held-out responses are predicted better by the clusters than by all"),
        (0.3, 0.16, "none", "No structure found:"),
        (0.09, 0.001, "trace", "No structure found that is of use"),
        (0.0, 0.0, "none", "No structure found:"),
    ],
)
def test_structure_of_decisions_has_to_be_sure_and_of_a_tenth_of_a_nat(gain, error, expected, words) -> None:
    assert structure(heldout(gain, error, DECISION)) == expected
    assert structure_sentence(heldout(gain, error, DECISION)).startswith(words)


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
    assert structure(SimpleNamespace(scored=0)) is None
    assert "could be held out" in structure_sentence(None)


def test_a_lead_is_told_whether_it_matters_that_a_fit_has_not_converged() -> None:
    arrays = {"n_iterations": 100, "converged": False, "lower_bounds": [("layers", -9.0)] + [("joint", -100.0)] * 30}
    paper = {"method": "crowdclustering", "clusters": "bound"}
    assert convergence_sentence(paper, **arrays).endswith("its figures could still change.")
    settled = convergence_sentence(paper, **(arrays | {"n_unchanged": 60}))
    assert "no item changed its cluster in the last 60: the clusters are settled" in settled
    assert (
        convergence_sentence(paper, **(arrays | {"converged": True})) == "The fit converged after 100 joint iterations."
    )
    chosen = convergence_sentence(paper | {"clusters": "heldout"}, **(arrays | {"n_unchanged": 100}))
    assert "no item" not in chosen
    assert "The clusters were settled before these iterations" in chosen
    bounds = tuple(("joint", -1000.0 + 0.001 * n) for n in range(20))
    assert "by less than 0.01% in the last" in convergence_sentence(
        paper | {"clusters": 3}, **(arrays | {"lower_bounds": bounds})
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
    quick = FitSettings(dimensions=2, n_starts=1, folds=3, seed=seed)
    simulation = SimulationSettings(
        items=60, clusters=3, items_per_hit=8, redundancy=6, workers_per_hit=2, workers=10, seed=seed
    )
    table = simulate_campaign(simulation).table
    assert fit_table(table, quick).summary["structure"] == "found"
    noise = fit_table(shuffled(table, seed), quick)
    assert noise.summary["structure"] == "none"
    assert any(sentence.startswith("No structure found:") for sentence in noise.summary["verdicts"])


def campaign() -> ResponseTable:
    simulation = SimulationSettings(
        items=60, clusters=3, items_per_hit=8, redundancy=6, workers_per_hit=2, workers=10, random_workers=1, seed=4
    )
    return simulate_campaign(simulation).table


def test_beside_one_cluster_nobody_is_called_random() -> None:
    table = campaign()
    asked = fit_table(table, FitSettings(dimensions=2, n_starts=1, n_clusters=3, folds=0, label_weight=0.5))
    assert any(RANDOM in row.flags for row in worker_rows(table, asked.labels, {}))
    one = fit_table(table, FitSettings(dimensions=2, n_starts=1, n_clusters=1, folds=3, label_weight=0.5, bootstrap=2))
    rows = worker_rows(table, one.labels, {})
    assert all(RANDOM not in row.flags and row.likeness is None for row in rows)
    told = " ".join(one.summary["verdicts"])
    assert "chance" not in told
    assert "structure" not in told
    assert "they gain" not in told
    assert "All items are in one cluster, the only one that was asked for." in told
    assert one.summary["structure"] is None
    assert structure(heldout(0.1, 0.01), 1) == "none"
    assert one.summary["stability"] is None
    assert "with one cluster there is nothing to find again" in told
    assert "100%" not in told


def chosen(clusters: int, scored: int = 100, tried: int = 3) -> SimpleNamespace:
    numbers = tuple((number, -0.5, 0.1, 0.1) for number in range(1, tried + 1))
    return SimpleNamespace(
        scored=scored, clusters=clusters, label_weight=0.5, dimensions=2, folds=5, by_clusters=numbers
    )


@pytest.mark.parametrize(
    ("clusters", "heldout", "words"),
    [
        (1, None, "the only one that was asked for."),
        (3, chosen(3), "of 3 clusters the fit found items for no other."),
        ("heldout", chosen(3), "of 3 clusters the fit found items for no other."),
        ("bound", chosen(0), "the bound of the fit favours no more."),
        ("heldout", None, "no response could be held out that would speak for more."),
        ("bound", None, "the bound of the fit favours no more."),
        ("heldout", chosen(1, scored=0), "nothing could be predicted that would speak for more."),
        ("heldout", chosen(1), "no larger number of clusters predicted held-out responses better by enough to count."),
    ],
)
def test_one_cluster_is_told_with_its_reason(clusters, heldout, words) -> None:
    sentence = one_cluster_sentence({"clusters": clusters}, heldout)
    assert sentence.endswith(words)
    assert "ll items are in one cluster" in sentence


def test_settings_are_chosen_by_responses_only_where_these_said_something() -> None:
    automatic = {"clusters": "heldout", "label_weight": "auto", "dimensions": "auto"}
    assert choice_sentence(automatic, chosen(3), 2) == "Chosen by held-out responses, 5 folds: 3 clusters."
    nothing = choice_sentence(automatic, chosen(1, scored=0), 2)
    assert nothing.startswith("Nothing was chosen by held-out responses; the program's own settings were taken: 1 clus")
    assert choice_sentence(automatic, None, 4) == ""
    by_bound = automatic | {"clusters": "bound"}
    assert choice_sentence(by_bound, chosen(0), 2) == (
        "Chosen by held-out responses, 5 folds: label weight 0.5 and 2 dimensions."
    )
    assert choice_sentence(by_bound, None, 4).endswith(": label weight 1 and 4 dimensions.")
    assert choice_sentence({"clusters": 3, "label_weight": 1.0, "dimensions": 1}, None, 1) == ""


def test_where_no_items_were_seen_twice_nothing_is_said_to_be_chosen_by_responses() -> None:
    answers = [Response(f"h{n}", f"w{n % 2}", (f"{n}a", f"{n}b"), ("1", "1" if n % 3 else "2")) for n in range(6)]
    summary = fit_table(ResponseTable.from_responses(answers), FitSettings(n_starts=1)).summary
    assert summary["too_little"]
    assert summary["structure"] is None
    told = summary["verdicts"]
    assert any(sentence.startswith("Too few answers to tell: about ") for sentence in told)
    assert not any(sentence.startswith("Chosen by held-out") for sentence in told)
    by_bound = fit_table(ResponseTable.from_responses(answers), FitSettings(n_starts=1, n_clusters="bound"))
    assert any("nothing could be predicted" in sentence for sentence in by_bound.summary["verdicts"])
    assert any("the program's own settings were taken" in sentence for sentence in by_bound.summary["verdicts"])


def test_clusters_without_items_are_counted_and_no_reason_is_made_up() -> None:
    assert lost_clusters_sentence({"clusters": 3}, None, 2) == (
        "Of 3 clusters only 2 kept items; the fit found none for the other one."
    )
    assert lost_clusters_sentence({"clusters": "heldout"}, chosen(5), 2).endswith("none for the other 3.")
    assert lost_clusters_sentence({"clusters": 3}, None, 3) == ""


def test_no_figure_is_less_than_zero_by_nothing() -> None:
    perfect = SimpleNamespace(
        scored=100, unit=DECISION, loglik=-0.0001, base_loglik=-0.5, gain=0.4999, gain_se=0.001, accuracy=1.0, folds=5
    )
    sentence = structure_sentence(perfect)
    assert "(0.000 nats a decision against -0.500," in sentence
    assert "100.0% of their decisions are predicted rightly" in sentence
