"""Groups of workers who share a criterion: found where they are, and nowhere else."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tall_red import TallRedSettings, tall_red_campaign

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.evaluation.simulation import SimulatedCampaign, SimulationSettings, simulate_campaign
from crowdclust_app.inference.crowdclustering.partitions.cluster_pair_counts import (
    PairCounts,
    count_cluster_pairs,
    log_bell,
    merge_clusters,
    move_clusters,
    pair_column,
)
from crowdclust_app.inference.crowdclustering.partitions.worker_groups import (
    ALL_APART,
    IN_GROUP,
    ONE_GROUP,
    OWN_WAY,
    RANDOM,
    SILENT,
    UNCLEAR,
    WorkerGroups,
    group_workers,
)


def true_clusters(campaign: SimulatedCampaign) -> np.ndarray:
    return np.array([campaign.categories.index(category) for category in campaign.truth])


def groups_of(campaign: SimulatedCampaign) -> WorkerGroups:
    return group_workers(count_cluster_pairs(campaign.table, true_clusters(campaign), len(campaign.categories)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.03, 0.15, 0.3])
def test_height_and_colour_are_two_groups_and_the_odd_workers_in_none(noise: float, seed: int) -> None:
    campaign = tall_red_campaign(TallRedSettings(noise=noise, seed=seed))
    found = groups_of(campaign)
    blocks = {}
    for kind in ("height", "colour"):
        (number,) = {int(found.group[j]) for j, name in enumerate(campaign.worker_kinds) if name == kind}
        blocks[kind] = found.partitions[number - 1].tolist()
    assert blocks == {"height": [0, 0, 1, 1], "colour": [0, 1, 0, 1]}
    assert len(found.partitions) == 2
    assert found.kind[-2:].tolist() == [RANDOM, ONE_GROUP]
    assert found.group[-2:].tolist() == [0, 0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.0, 0.1, 0.25])
def test_one_criterion_is_one_group_however_careful_its_workers(noise: float, seed: int) -> None:
    settings = SimulationSettings(
        items=200, clusters=6, workers=30, items_per_hit=20, noise=noise, coarse=0.0, random_workers=3, seed=seed
    )
    campaign = simulate_campaign(settings)
    found = groups_of(campaign)
    assert found.partitions.tolist() == [[0, 1, 2, 3, 4, 5]]
    wanted = [RANDOM if kind == "random" else IN_GROUP for kind in campaign.worker_kinds]
    assert found.kind.tolist() == wanted


def test_three_criteria_over_eight_clusters() -> None:
    rng = np.random.default_rng(0)
    cluster = np.arange(160) % 8
    bits = (cluster[:, None] >> np.arange(3)) & 1
    responses = []
    for number in range(90):
        items = rng.choice(160, 20, replace=False)
        said = bits[items, number % 3]
        said = np.where(rng.random(20) < 0.1, rng.integers(0, 2, 20), said)
        names = tuple(f"i{item:03d}" for item in items)
        responses.append(Response(f"h{number}", f"w{number % 9}", names, tuple(map(str, said))))
    table = ResponseTable.from_responses(responses, [f"i{item:03d}" for item in range(160)])
    found = group_workers(count_cluster_pairs(table, cluster, 8))
    assert len(found.partitions) == 3
    assert len({int(found.group[j]) for j in range(9)}) == 3
    for j in range(9):
        blocks = found.partitions[found.group[j] - 1]
        assert all(
            (blocks[a] == blocks[b]) == ((a >> j % 3 & 1) == (b >> j % 3 & 1)) for a in range(8) for b in range(8)
        )
        share = found.together[found.group[j] - 1]
        assert share[0, 1 << j % 3] < 0.3


def test_a_way_that_nobody_shares_is_no_group() -> None:
    campaign = tall_red_campaign(TallRedSettings(colour_workers=1, height_workers=9))
    found = groups_of(campaign)
    (alone,) = [j for j, kind in enumerate(campaign.worker_kinds) if kind == "colour"]
    assert found.partitions.tolist() == [[0, 0, 1, 1]]
    assert found.kind[alone] == OWN_WAY
    assert found.own[alone].tolist() == [0, 1, 0, 1]


def test_who_said_nothing_or_little_is_not_judged() -> None:
    def said(hit: str, worker: str, items: str, groups: str) -> Response:
        return Response(hit, worker, tuple(items), tuple(groups))

    table = ResponseTable.from_responses(
        [said("h", "few", "ab", "11"), said("h", "one item", "a", "1")], "abcd", ["few", "one item", "idle"]
    )
    found = group_workers(count_cluster_pairs(table, np.array([0, 0, 1, 1]), 2))
    assert found.kind.tolist() == [UNCLEAR, SILENT, SILENT]
    assert found.group.tolist() == [0, 0, 0]
    assert found.partitions.shape == (0, 2)
    assert found.together.shape == (0, 2, 2)


def test_one_cluster_no_cluster_and_two() -> None:
    campaign = tall_red_campaign(TallRedSettings())
    one = group_workers(count_cluster_pairs(campaign.table, np.zeros(80, dtype=np.int64), 1))
    assert len(one.partitions) == 0
    assert one.kind[-1] == ONE_GROUP
    assert RANDOM not in one.kind
    none = group_workers(count_cluster_pairs(campaign.table, np.full(80, -1), 1))
    assert set(none.kind) == {SILENT}
    two = group_workers(count_cluster_pairs(campaign.table, true_clusters(campaign) // 2, 2))
    assert two.partitions.tolist() == [[0, 1]]
    assert {kind for kind, name in zip(two.kind, campaign.worker_kinds, strict=True) if name == "height"} == {IN_GROUP}
    assert {kind for kind, name in zip(two.kind, campaign.worker_kinds, strict=True) if name == "colour"} == {RANDOM}


def test_all_apart_is_told_from_sorting() -> None:
    items = [f"i{n}" for n in range(12)]
    responses = [Response(f"h{n}", "apart", tuple(items), tuple(map(str, range(12)))) for n in range(3)]
    table = ResponseTable.from_responses(responses)
    found = group_workers(count_cluster_pairs(table, np.arange(12) % 3, 3))
    assert found.kind.tolist() == [ALL_APART]


def test_counts_are_those_of_the_labels_one_by_one() -> None:
    campaign = tall_red_campaign(TallRedSettings(items=24, items_per_hit=8, noise=0.3))
    cluster = true_clusters(campaign)
    cluster[3] = -1
    counts = count_cluster_pairs(campaign.table, cluster, 4)
    same, apart = np.zeros((12, 10)), np.zeros((12, 10))
    table = campaign.table
    for r in range(table.n_responses):
        span = range(table.response_ptr[r], table.response_ptr[r + 1])
        known = [p for p in span if cluster[table.items[p]] >= 0]
        for p, q in combinations(known, 2):
            a, b = sorted((cluster[table.items[p]], cluster[table.items[q]]))
            into = same if table.groups[p] == table.groups[q] else apart
            into[table.worker_of_response[r], pair_column(a, b, 4)] += 2 / len(known)
    np.testing.assert_allclose(counts.same.toarray(), same)
    np.testing.assert_allclose(counts.apart.toarray(), apart)
    assert isinstance(counts, PairCounts)


def test_partitions_from_gains() -> None:
    gains = np.full((5, 5), -1.0)
    gains[np.ix_([0, 2, 4], [0, 2, 4])] = 1.0
    assert merge_clusters(gains).tolist() == [0, 1, 0, 2, 0]
    assert move_clusters(gains, np.array([0, 0, 0, 0, 1])).tolist() == [0, 1, 0, 2, 0]
    assert np.exp(log_bell(1)) == pytest.approx(1)
    assert np.exp(log_bell(5)) == pytest.approx(52)


def test_a_search_nobody_wants_stops() -> None:
    campaign = tall_red_campaign(TallRedSettings())
    counts = count_cluster_pairs(campaign.table, true_clusters(campaign), 4)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        group_workers(counts, token)
