"""Counts, likenesses and updates of the baselines, held against sums written out pair by pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.inference.consensus import nmf
from crowdclust_app.inference.consensus.coassociation import ProgressListener, evidence_of
from crowdclust_app.inference.consensus.ensembles import jaccard, mcla
from crowdclust_app.inference.consensus.estimator import number_by_size
from crowdclust_app.inference.consensus.kmeans import kmeans


def random_table(seed: int, n: int = 12, hits: int = 9, size: int = 5, groups: int = 3) -> ResponseTable:
    rng = np.random.default_rng(seed)
    responses = []
    for h in range(hits):
        items = rng.permutation(n)[: rng.integers(2, size + 1)]
        responses.append(
            Response(
                f"h{h}",
                f"w{h % 3}",
                tuple(f"i{i}" for i in items),
                tuple(map(str, rng.integers(0, groups, len(items)))),
            )
        )
    return ResponseTable.from_responses(responses, [f"i{i}" for i in range(n)])


def pairs_by_hand(table: ResponseTable) -> tuple[np.ndarray, np.ndarray]:
    together, seen = np.zeros((table.n_items, table.n_items)), np.zeros((table.n_items, table.n_items))
    for r in range(table.n_responses):
        span = range(table.response_ptr[r], table.response_ptr[r + 1])
        for p, q in combinations(span, 2):
            for a, b in ((table.items[p], table.items[q]), (table.items[q], table.items[p])):
                seen[a, b] += 1
                together[a, b] += table.groups[p] == table.groups[q]
    return together, seen


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_counted_as_by_hand(seed: int) -> None:
    table = random_table(seed)
    evidence = evidence_of(table)
    together, seen = pairs_by_hand(table)
    shown = np.ix_(evidence.shown, evidence.shown)
    assert np.array_equal(evidence.shown, np.flatnonzero(seen.any(axis=1)))
    assert np.array_equal(evidence.together().toarray(), together[shown])
    assert np.array_equal(evidence.seen().toarray(), seen[shown])
    rates = np.divide(together, seen, out=np.zeros_like(seen), where=seen > 0)
    assert np.allclose(evidence.rates().toarray(), rates[shown], rtol=0, atol=1e-15)
    published = nmf.consensus_matrix(evidence).toarray()
    assert np.allclose(published, rates[shown] + np.eye(evidence.n_items), rtol=0, atol=1e-15)


@pytest.mark.parametrize("seed", range(5))
def test_hyperedges_are_compared_as_by_hand(seed: int) -> None:
    table = random_table(seed)
    evidence = evidence_of(table)
    edges = [set(np.flatnonzero(column)) for column in evidence.in_group.toarray().T]
    said = {
        frozenset(np.searchsorted(evidence.shown, table.items[span][table.groups[span] == g]).tolist())
        for r in range(table.n_responses)
        for span in [slice(table.response_ptr[r], table.response_ptr[r + 1])]
        for g in set(table.groups[span].tolist())
    }
    assert {frozenset(int(i) for i in edge) for edge in edges} == said
    assert evidence.group_sizes.tolist() == [len(edge) for edge in edges]
    found = jaccard(evidence).toarray()
    for a, b in np.ndindex(found.shape):
        expected = 0.0 if a == b else len(edges[a] & edges[b]) / len(edges[a] | edges[b])
        assert found[a, b] == pytest.approx(expected, abs=1e-15)


def test_hyperedges_come_in_one_order_whatever_the_groups_are_called() -> None:
    table = random_table(3)
    renamed = ResponseTable(
        **{
            name: getattr(table, name)
            for name in ("item_names", "worker_names", "hit_names", "response_ptr", "items", "worker_of_response")
        },
        hit_of_response=table.hit_of_response,
        groups=(7 * (table.groups + 1)) % 11,
    )
    first, second = evidence_of(table), evidence_of(renamed)
    assert np.array_equal(first.in_group.toarray(), second.in_group.toarray())


def loss_by_hand(table: ResponseTable, members: np.ndarray, core: np.ndarray, shown: np.ndarray) -> float:
    together, seen = (matrix[np.ix_(shown, shown)] for matrix in pairs_by_hand(table))
    model = members @ core @ members.T
    upper = np.triu(seen > 0, 1)
    return float(
        (seen * (np.divide(together, seen, out=np.zeros_like(seen), where=seen > 0) - model) ** 2)[upper].sum()
    )


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10_000), clusters=st.integers(1, 5))
def test_the_masked_loss_never_rises_and_is_that_of_seen_pairs(seed: int, clusters: int) -> None:
    table = random_table(seed)
    evidence = evidence_of(table)
    chosen = nmf.NmfSettings(max_iterations=60, tolerance=1e-12, n_starts=1, seed=seed)
    found = nmf.factorise_seen(evidence, clusters, chosen, ProgressListener())
    losses = np.array(found.losses)
    assert np.all(np.diff(losses) <= 1e-9 * max(losses[0], 1.0))
    # the last figure is from before the last update of the core, which can only have lowered it
    by_hand = loss_by_hand(table, found.members, found.core, evidence.shown)
    assert by_hand <= losses[-1] + 1e-9
    assert by_hand == pytest.approx(losses[-1], rel=0.05, abs=1e-6)
    assert np.allclose(found.core, found.core.T)
    assert found.members.min() >= 0
    assert found.core.min() >= 0


@pytest.mark.parametrize("seed", range(4))
def test_the_published_loss_is_that_of_the_whole_matrix_and_falls(seed: int) -> None:
    evidence = evidence_of(random_table(seed, n=20, hits=30, size=8))
    W = nmf.consensus_matrix(evidence).toarray()
    found = nmf.factorise(evidence, 3, nmf.NmfSettings(n_starts=1, seed=seed), ProgressListener())
    by_hand = ((W - found.members @ found.core @ found.members.T) ** 2).sum()
    assert found.losses[-1] == pytest.approx(by_hand, rel=1e-9)
    assert found.losses[-1] < 0.9 * found.losses[0]


def test_more_starts_never_give_a_larger_loss() -> None:
    evidence = evidence_of(random_table(1, n=20, hits=30, size=8))
    losses = [
        nmf.factorise(evidence, 4, nmf.NmfSettings(n_starts=starts, seed=5), ProgressListener()).losses[-1]
        for starts in (1, 3, 8)
    ]
    assert losses == sorted(losses, reverse=True)


def test_a_block_matrix_is_factorised_exactly() -> None:
    items = [f"i{n}" for n in range(9)]
    said = tuple("aaabbbccc")
    table = ResponseTable.from_responses([Response("h", "w", tuple(items), said)])
    found = nmf.factorise(evidence_of(table), 3, nmf.NmfSettings(seed=1), ProgressListener())
    assert found.losses[-1] == pytest.approx(0, abs=1e-2)
    assert number_by_size(found.labels).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_meta_clusters_win_items_by_the_mean_of_their_hyperedges() -> None:
    pytest.importorskip("pymetis")
    responses = [Response(f"h{n}", "w", tuple("abcdef"), tuple("111222")) for n in range(4)]
    responses += [Response("odd", "w", tuple("abcdef"), tuple("112222"))]
    evidence = evidence_of(ResponseTable.from_responses(responses))
    labels = mcla(evidence, 2, seed=0)
    assert number_by_size(labels).tolist() == [0, 0, 0, 1, 1, 1]


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 12), data=st.data())
def test_k_means_uses_every_cluster_and_ends_at_nearest_centres(seed: int, n: int, data: st.DataObject) -> None:
    clusters = data.draw(st.integers(1, n))
    points = np.random.default_rng(seed).integers(0, 4, (n, 2)).astype(float)
    labels = kmeans(points, clusters, 3, seed)
    assert sorted(set(labels.tolist())) == list(range(clusters))
    assert np.array_equal(labels, kmeans(points, clusters, 3, seed))
    if len(np.unique(points, axis=0)) >= clusters:
        centres = np.stack([points[labels == k].mean(axis=0) for k in range(clusters)])
        squares = ((points[:, None] - centres) ** 2).sum(axis=2)
        assert np.allclose(squares[np.arange(n), labels], squares.min(axis=1))


def test_clusters_are_numbered_by_size_then_by_their_first_item() -> None:
    assert number_by_size(np.array([5, 9, 9, 2, 5, 7])).tolist() == [0, 1, 1, 2, 0, 3]
