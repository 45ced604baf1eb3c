"""Every baseline finds what is plainly there, takes any table, is the same for the same seed, and can be stopped."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, NotConvergedWarning, UserError
from crowdclust_app.domain.methods import METHODS, names_of
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.evaluation.metrics import variation_of_information
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign
from crowdclust_app.inference.consensus import ConsensusClustering, Step

try:
    import pymetis  # noqa: F401
except ImportError:
    HAS_METIS = False
else:
    HAS_METIS = True

EVERY = [
    pytest.param(
        m, marks=pytest.mark.skipif(METHODS[m].needs_metis and not HAS_METIS, reason="pymetis is not installed")
    )
    for m in names_of("baseline")
    if METHODS[m].path.endswith(":ConsensusClustering")
]
SIMPLE = SimulationSettings(
    items=120, clusters=4, items_per_hit=20, redundancy=5, workers_per_hit=3, workers=9, noise=0.02, coarse=0.05
)


@pytest.fixture(scope="module")
def campaign():
    return simulate_campaign(SIMPLE)


@pytest.mark.parametrize("method", EVERY)
def test_plain_categories_are_found(campaign, method: str) -> None:
    labels = ConsensusClustering(method=method, n_clusters=4, seed=2).fit(campaign.table).labels_
    # METIS balances, which moves an item or two
    assert variation_of_information(labels, campaign.truth) < 0.25
    assert sorted(set(labels.tolist())) == [1, 2, 3, 4]
    sizes = np.bincount(labels)[1:]
    assert sizes.tolist() == sorted(sizes.tolist(), reverse=True)


@pytest.mark.parametrize("method", EVERY)
def test_the_same_seed_gives_the_same_labels_whatever_the_groups_are_called(campaign, method: str) -> None:
    table = campaign.table
    rng = np.random.default_rng(0)
    renamed = np.concatenate(
        [
            rng.permutation(50)[table.groups[table.response_ptr[r] : table.response_ptr[r + 1]]]
            for r in range(table.n_responses)
        ]
    )
    fields = {name: getattr(table, name) for name in table.__dataclass_fields__} | {"groups": renamed}
    first = ConsensusClustering(method=method, n_clusters=4, n_starts=2, seed=7).fit(table).labels_
    second = ConsensusClustering(method=method, n_clusters=4, n_starts=2, seed=7).fit(ResponseTable(**fields)).labels_
    assert np.array_equal(first, second)


def sorted_by(groups: str, hit: str = "h", worker: str = "w", items: str = "abcdefgh") -> Response:
    return Response(hit, worker, tuple(items[: len(groups)]), tuple(groups))


ODD_TABLES = {
    "one response": [sorted_by("11223344")],
    "two items": [sorted_by("12")],
    "two items together": [sorted_by("11"), sorted_by("11", "h2", "v")],
    "all same": [sorted_by("11111111", worker=w) for w in "xyz"],
    "all different": [sorted_by("12345678", worker=w) for w in "xyz"],
    "contradiction": [sorted_by("1111", worker="x"), sorted_by("1234", worker="x"), sorted_by("1122", worker="y")],
    "disconnected": [sorted_by("112"), sorted_by("122", items="def"), sorted_by("12", items="gh")],
    "single items": [sorted_by("1"), sorted_by("1", items="z"), sorted_by("112")],
    "many sizes": [sorted_by("12"), sorted_by("1212", "h2"), sorted_by("12121212", "h3", "v")],
}


@pytest.mark.filterwarnings("ignore::crowdclust_app.domain.errors.NotConvergedWarning")
@pytest.mark.parametrize("clusters", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("name", ODD_TABLES)
@pytest.mark.parametrize("method", EVERY)
def test_every_table_gives_labels(method: str, name: str, clusters: int, capfd: pytest.CaptureFixture[str]) -> None:
    table = ResponseTable.from_responses(ODD_TABLES[name], item_names=["never", "shown"])
    model = ConsensusClustering(method=method, n_clusters=clusters, n_starts=2, seed=1).fit(table)
    shown = np.unique(table.items[np.repeat(table.sizes > 1, table.sizes)])
    assert np.array_equal(np.flatnonzero(model.labels_), shown)
    used = sorted(set(model.labels_[shown].tolist()))
    assert used == list(range(1, len(used) + 1))
    assert len(used) <= clusters
    if clusters >= len(shown):
        assert len(used) == len(shown)
    assert np.all(np.isfinite(model.losses_))
    # METIS is written in C and would print on the very stream of --json
    sys.stdout.flush()
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("method", [m for m in EVERY if m.values[0] not in ("nmf-masked", "spectral")])
def test_parts_that_nothing_joins_are_apart_where_unseen_counts_as_different(method: str) -> None:
    table = ResponseTable.from_responses(
        [sorted_by("1111", worker=w) for w in "xyz"] + [sorted_by("1111", worker=w, items="efgh") for w in "xyz"]
    )
    assert ConsensusClustering(method=method, n_clusters=2).fit(table).labels_.tolist() == [1] * 4 + [2] * 4


def test_no_pair_label_is_said() -> None:
    table = ResponseTable.from_responses([sorted_by("1")])
    with pytest.raises(UserError, match="no response has two items"):
        ConsensusClustering().fit(table)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"method": "kmeans"}, "there is no method kmeans"),
        ({"n_clusters": 0}, "the number of clusters must be at least 1"),
        ({"n_starts": 0}, "the number of starts must be at least 1"),
        ({"seed": -1}, "the seed must not be negative"),
    ],
)
def test_wrong_parameters_are_said_by_fit(campaign, wrong: dict, words: str) -> None:
    with pytest.raises(UserError, match=words):
        ConsensusClustering(**wrong).fit(campaign.table)


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.needs_metis])
def test_a_missing_metis_is_said_in_one_sentence(campaign, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(UserError, match=r"the package pymetis is not installed; install crowdclust\[baselines\]"):
        ConsensusClustering(method=method, n_clusters=3).fit(campaign.table)


@pytest.mark.parametrize("method", ["nmf", "nmf-masked", "spectral"])
def test_steps_are_reported_and_a_cancel_stops_at_the_next(campaign, method: str) -> None:
    token, steps = CancelToken(), []

    def note(step: Step) -> None:
        steps.append(step)
        if len(steps) == 5:
            token.cancel()

    model = ConsensusClustering(method=method, n_clusters=4)
    with pytest.raises(Cancelled):
        model.fit(campaign.table, progress=note, cancel=token)
    assert len(steps) == 5
    assert not hasattr(model, "labels_")
    fractions = [step.done / step.total for step in steps[1:]]
    assert fractions == sorted(fractions)
    assert os.linesep not in steps[-1].text


def test_factorisations_say_whether_they_came_to_rest(campaign) -> None:
    short = ConsensusClustering(method="nmf-masked", n_clusters=4, n_starts=1, max_iterations=3, tolerance=1e-12)
    with pytest.warns(NotConvergedWarning, match=r"did not converge in 3 iterations; raise max_iterations$"):
        short.fit(campaign.table)
    assert (short.n_iterations_, short.converged_) == (3, False)
    rested = ConsensusClustering(method="nmf", n_clusters=4, n_starts=1, max_iterations=2000, tolerance=1e-4).fit(
        campaign.table
    )
    assert rested.converged_ is True
    assert rested.n_iterations_ == len(rested.losses_)
    assert ConsensusClustering(method="spectral", n_clusters=4).fit(campaign.table).converged_ is None
