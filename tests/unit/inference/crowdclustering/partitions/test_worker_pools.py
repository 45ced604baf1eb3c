"""Workers who are alike share a table where there are very many."""

from __future__ import annotations

import label_by_label as slow
import numpy as np

from crowdclust_app.inference.crowdclustering.partitions.worker_pools import alike, pool_workers, pooled
from crowdclust_app.inference.crowdclustering.selection.prediction import placement_of, score_table


def test_points_are_halved_across_the_widest_direction() -> None:
    points = np.column_stack([np.repeat([0.0, 100.0], 4), np.tile([0.0, 10.0], 4), np.arange(8) / 100.0])
    found = alike(points, 5)
    assert sorted(np.bincount(found).tolist()) == [2, 2, 2, 2]
    for part in range(4):
        assert len({tuple(point) for point in points[found == part][:, :2]}) == 1


def test_a_part_has_the_moments_of_its_mixture() -> None:
    random = np.random.default_rng(0)
    mean, variance = random.normal(size=(9, 2)), random.uniform(0.5, 1.0, size=(9, 2))
    part_of = np.array([0, 1, 0, 1, 2, 2, 2, 0, 1])
    centre, spread = pooled(mean, variance, part_of, 3)
    for part in range(3):
        own = part_of == part
        square = (mean[own] ** 2 + variance[own]).mean(axis=0)
        assert np.allclose(centre[part], mean[own].mean(axis=0))
        assert np.allclose(spread[part], square - centre[part] ** 2)


def test_few_workers_keep_their_own_tables() -> None:
    random = np.random.default_rng(1)
    table = slow.random_table(random)
    posterior = slow.random_posterior(random, table, 2)
    pooled = pool_workers(posterior.labels, placement_of(posterior, table.n_items))
    assert pooled.labels is posterior.labels
    assert pooled.pool_of.tolist() == list(range(posterior.labels.n_workers))


def test_workers_of_one_judge_are_scored_by_its_rates() -> None:
    random = np.random.default_rng(1)
    table = slow.random_table(random, n_workers=7, sizes=(5, 9, 3, 7, 11) * 3)
    posterior = slow.random_posterior(random, table, 2)
    pooled = pool_workers(posterior.labels, placement_of(posterior, table.n_items), most=2)
    assert pooled.labels.n_workers == pooled.pool_of.max() + 1 == 2
    assert np.array_equal(pooled.labels.workers, pooled.pool_of[posterior.labels.workers])
    assert np.isclose(pooled.labels.half_labels.sum(), posterior.labels.half_labels.sum())
    partition = random.integers(0, 3, size=posterior.labels.n_items)
    rates = pooled.expect(partition)
    cluster = pooled.placement.spread_out(partition)
    own = score_table(table, cluster, rates[pooled.pool_of])
    shared = score_table(table, cluster, rates, pooled.pool_of)
    assert np.array_equal(own.loglik, shared.loglik)
