"""The order of rows in a file changes nothing about what is found."""

from __future__ import annotations

from dataclasses import fields

import label_by_label as slow
import numpy as np
import pytest
from tall_red import TallRedSettings, tall_red_campaign

from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.inference.crowdclustering import Crowdclustering
from crowdclust_app.inference.crowdclustering.model.canonical_order import ordered
from crowdclust_app.inference.crowdclustering.model.estimator import BY_ITEM, BY_WORKER

# fits are cut short to be quick
pytestmark = pytest.mark.filterwarnings("ignore::crowdclust_app.domain.errors.NotConvergedWarning")


def responses_of(table: ResponseTable) -> list[Response]:
    found = []
    for r in range(table.n_responses):
        here = slice(table.response_ptr[r], table.response_ptr[r + 1])
        found.append(
            Response(
                table.hit_names[table.hit_of_response[r]],
                table.worker_names[table.worker_of_response[r]],
                tuple(table.item_names[i] for i in table.items[here]),
                tuple(str(g) for g in table.groups[here]),
            )
        )
    return found


def shuffled(table: ResponseTable, seed: int) -> ResponseTable:
    """The same responses with rows, items in them, and the numbers of everything in another order."""
    random = np.random.default_rng(seed)
    mixed = []
    for response in responses_of(table):
        turn = random.permutation(len(response.items))
        mixed.append(
            Response(
                response.hit,
                response.worker,
                tuple(response.items[i] for i in turn),
                tuple(response.groups[i] for i in turn),
            )
        )
    names = [table.item_names[i] for i in random.permutation(table.n_items)]
    workers = [table.worker_names[j] for j in random.permutation(table.n_workers)]
    return ResponseTable.from_responses([mixed[r] for r in random.permutation(len(mixed))], names, workers)


@pytest.mark.parametrize("seed", range(3))
def test_there_is_one_order(seed: int) -> None:
    table = slow.random_table(np.random.default_rng(seed), n_workers=4, sizes=(5, 2, 1, 7) * 4)
    one, other = ordered(table), ordered(shuffled(table, seed))
    for field in fields(ResponseTable):
        assert np.array_equal(getattr(one.table, field.name), getattr(other.table, field.name)), field.name
    assert [one.table.item_names[i] for i in one.item_at] == list(table.item_names)
    assert [one.table.worker_names[j] for j in one.worker_at] == list(table.worker_names)

    def said(of: ResponseTable) -> list[tuple[str, str, frozenset[frozenset[str]]]]:
        found = []
        for response in responses_of(of):
            groups: dict[str, set[str]] = {}
            for item, group in zip(response.items, response.groups, strict=True):
                groups.setdefault(group, set()).add(item)
            found.append((response.worker, response.hit, frozenset(map(frozenset, groups.values()))))
        return sorted(found, key=repr)

    assert sorted(map(repr, map(sorted_groups, said(one.table)))) == sorted(map(repr, map(sorted_groups, said(table))))


def sorted_groups(said: tuple[str, str, frozenset[frozenset[str]]]) -> tuple[str, str, list[list[str]]]:
    return said[0], said[1], sorted(sorted(group) for group in said[2])


@pytest.mark.parametrize("consensus", [False, True])
def test_a_fit_does_not_depend_on_the_order_of_rows(consensus: bool) -> None:
    table = tall_red_campaign(TallRedSettings(items=24, items_per_hit=8, workers_per_hit=3, seed=1)).table
    other = shuffled(table, 5)
    settings = {"n_clusters": "heldout", "label_weight": "auto", "folds": 3, "n_starts": 2, "consensus": consensus}
    first, second = (Crowdclustering.as_published(**settings, max_iterations=20).fit(one) for one in (table, other))
    assert first.bound_ == second.bound_
    item = [other.item_names.index(name) for name in table.item_names]
    worker = [other.worker_names.index(name) for name in table.worker_names]
    for name in BY_ITEM:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name)[item], err_msg=name)
    for name in () if consensus else BY_WORKER:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name)[worker], err_msg=name)
    assert first.heldout_.loglik == second.heldout_.loglik
    scores = (model.heldout_.workers.loglik for model in (first, second))
    np.testing.assert_array_equal(next(scores), next(scores)[worker])
