"""The Strehl-Ghosh plan is the paper's, at the edges too, and its figures are what counting by hand gives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.errors import UserError
from crowdclust_app.sampling import coverage
from crowdclust_app.sampling.plan import Plan, make_plan, plan_figures


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


sizes = st.tuples(st.integers(2, 60), st.integers(2, 15), st.integers(1, 20), st.integers(1, 4), st.integers(0, 5))


@given(sizes)
def test_every_plan_follows_the_paper(numbers: tuple[int, int, int, int, int]) -> None:
    n, m, v, r, seed = numbers
    plan = make_plan(n, PlanSettings(m, v, r, seed))
    if n <= m:
        assert [hit.tolist() for hit in plan.hits] == [list(range(n))]
        return
    assert len(plan.hits) == ceil_div(n * v, m)
    fixed = ceil_div(m, v)
    for number, hit in enumerate(plan.hits):
        assert len(hit) == m
        assert len(set(hit.tolist())) == m
        assert set(hit.tolist()) <= set(range(n))
        expected = list(range(n))[number * fixed : (number + 1) * fixed]
        assert hit[: len(expected)].tolist() == expected
    assert set(np.concatenate(plan.hits).tolist()) == set(range(n))


@given(sizes)
def test_figures_equal_counting_by_hand(numbers: tuple[int, int, int, int, int]) -> None:
    n, m, v, r, seed = numbers
    plan = make_plan(n, PlanSettings(m, v, r, seed))
    figures = plan_figures(plan)
    shown = [sum(item in hit for hit in plan.hits) for item in range(n)]
    pairs = {frozenset(pair) for hit in plan.hits for pair in itertools.combinations(hit.tolist(), 2)}
    component = list(range(n))
    for a, b in (sorted(pair) for pair in pairs):
        old, new = component[b], component[a]
        component = [new if c == old else c for c in component]
    assert (figures.shown_min, figures.shown_max) == (min(shown), max(shown))
    assert figures.shown_mean == pytest.approx(sum(shown) / n)
    assert figures.pairs_covered == len(pairs)
    assert figures.components == len(set(component))
    assert figures.hits == len(plan.hits)
    assert figures.assignments == r * len(plan.hits)
    assert figures.pair_labels == r * sum(len(hit) * (len(hit) - 1) // 2 for hit in plan.hits)
    assert bool(figures.warnings) == (figures.components > 1)


def test_the_scenes_campaign_of_the_paper() -> None:
    figures = plan_figures(make_plan(1001, PlanSettings(36, 6, 5)))
    assert figures.hits == 167
    assert figures.assignments == 835
    assert figures.pair_labels == 5 * 167 * 630
    assert figures.components == 1
    assert figures.warnings == ()


def test_deterministic_items_may_run_out_before_the_last_hit() -> None:
    plan = make_plan(1000, PlanSettings(36, 5, 1))
    assert len(plan.hits) == 139
    assert plan.hits[124][:8].tolist() == list(range(992, 1000))
    # 125 HITs of 8 use up the 1000 items; the other 14 are filled at random and differ from each other
    assert len({tuple(hit.tolist()) for hit in plan.hits[125:]}) == 14
    assert all(len(hit) == 36 for hit in plan.hits[125:])


def test_the_random_places_are_uniform_over_the_other_items() -> None:
    counts = np.zeros(12)
    for seed in range(1500):
        hit = make_plan(12, PlanSettings(4, 2, 1, seed)).hits[1]
        assert hit[:2].tolist() == [2, 3]
        counts[hit[2:]] += 1
    assert counts[2] == counts[3] == 0
    others = np.delete(counts, [2, 3])
    # 3000 draws over 10 items: 300 +- 16 each
    assert np.all(np.abs(others - 300) < 80)


def test_seed_decides() -> None:
    first = make_plan(100, PlanSettings(10, 3, 1, 7))
    again = make_plan(100, PlanSettings(10, 3, 1, 7))
    other = make_plan(100, PlanSettings(10, 3, 1, 8))
    assert all(np.array_equal(a, b) for a, b in zip(first.hits, again.hits, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first.hits, other.hits, strict=True))


def test_redundancy_one_is_valid_and_warned_about() -> None:
    figures = plan_figures(make_plan(100, PlanSettings(10, 1, 2)))
    assert figures.hits == 10
    assert figures.components == 10
    assert figures.shown_max == 1
    assert figures.warnings == (
        "The design falls into 10 parts that share no item, and clusters cannot be compared across the parts; "
        "raise the redundancy (V).",
    )


def test_redundancy_above_the_size_of_a_hit_is_valid() -> None:
    plan = make_plan(20, PlanSettings(4, 9, 1))
    assert len(plan.hits) == 45
    assert [int(hit[0]) for hit in plan.hits[:20]] == list(range(20))
    assert plan_figures(plan).warnings == ()


def test_all_items_in_one_hit() -> None:
    figures = plan_figures(make_plan(36, PlanSettings(36, 6, 5)))
    assert (figures.hits, figures.pairs_covered, figures.shown_min, figures.shown_max) == (1, 630, 1, 1)


@pytest.mark.parametrize(("n", "words"), [(0, "there are no items"), (1, "there is only 1 item")])
def test_fewer_than_two_items_are_refused(n: int, words: str) -> None:
    with pytest.raises(UserError, match=words):
        make_plan(n, PlanSettings())


def test_an_absurd_redundancy_is_refused_before_it_fills_the_memory() -> None:
    with pytest.raises(UserError, match="lower the redundancy"):
        make_plan(1000, PlanSettings(36, 10**9, 5))


def test_items_in_no_hit_are_counted() -> None:
    plan = Plan(5, PlanSettings(3, 1, 1), (np.array([0, 1, 2]),))
    figures = plan_figures(plan)
    assert figures.shown_min == 0
    assert figures.components == 3
    assert figures.warnings == ("2 of 5 items are never shown, so nothing can be said about them.",)


def test_pairs_are_counted_the_same_in_many_small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan(300, PlanSettings(12, 4, 1))
    whole = plan_figures(plan).pairs_covered
    monkeypatch.setattr(coverage, "_SLICE_ENTRIES", 100)
    assert plan_figures(plan).pairs_covered == whole
