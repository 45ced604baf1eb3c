"""The measures equal counting pair by pair, and obey the laws they should."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdclust_app.evaluation.metrics import (
    adjusted_rand_index,
    normalised_mutual_information,
    variation_of_information,
)

MEASURES = [variation_of_information, adjusted_rand_index, normalised_mutual_information]


@st.composite
def clusterings(draw: st.DrawFn, how_many: int) -> list[list[int]]:
    n = draw(st.integers(1, 25))
    return [draw(st.lists(st.integers(0, draw(st.integers(0, 6))), min_size=n, max_size=n)) for _ in range(how_many)]


def entropy(labels: list) -> float:
    n = len(labels)
    return -sum(count / n * math.log(count / n) for count in Counter(labels).values())


@given(clusterings(2))
def test_equal_to_the_definitions(pair: list[list[int]]) -> None:
    a, b = pair
    joint = entropy(list(zip(a, b, strict=True)))
    assert variation_of_information(a, b) == pytest.approx(2 * joint - entropy(a) - entropy(b), abs=1e-12)
    information = entropy(a) + entropy(b) - joint
    mean = (entropy(a) + entropy(b)) / 2
    expected = information / mean if mean > 0 else 1.0
    assert normalised_mutual_information(a, b) == pytest.approx(max(0, expected), abs=1e-12)


@given(clusterings(2))
def test_adjusted_rand_equals_counting_pairs(pair: list[list[int]]) -> None:
    a, b = pair
    both = only_a = only_b = neither = 0
    for i, j in itertools.combinations(range(len(a)), 2):
        in_a, in_b = a[i] == a[j], b[i] == b[j]
        both += in_a and in_b
        only_a += in_a and not in_b
        only_b += in_b and not in_a
        neither += not in_a and not in_b
    total = both + only_a + only_b + neither
    if total == 0:
        assert adjusted_rand_index(a, b) == 1.0
        return
    expected = (both + only_a) * (both + only_b) / total
    largest = ((both + only_a) + (both + only_b)) / 2
    value = 1.0 if largest == expected else (both - expected) / (largest - expected)
    assert adjusted_rand_index(a, b) == pytest.approx(value, abs=1e-12)


@given(clusterings(3))
def test_variation_of_information_is_a_metric(three: list[list[int]]) -> None:
    a, b, c = three
    assert variation_of_information(a, b) >= 0
    assert variation_of_information(a, b) == pytest.approx(variation_of_information(b, a), abs=1e-12)
    assert variation_of_information(a, c) <= variation_of_information(a, b) + variation_of_information(b, c) + 1e-12
    alike = all((a[i] == a[j]) == (b[i] == b[j]) for i in range(len(a)) for j in range(i))
    assert (variation_of_information(a, b) < 1e-12) == alike


@given(clusterings(2), st.randoms())
def test_names_of_groups_and_order_of_items_mean_nothing(pair: list[list[int]], random) -> None:
    a, b = pair
    new_names = random.sample(["x", "y", "z", "u", "v", "w", "t"], 7)
    order = random.sample(range(len(a)), len(a))
    renamed, reordered = [new_names[a[i]] for i in order], [b[i] for i in order]
    for measure in MEASURES:
        assert measure(renamed, reordered) == pytest.approx(measure(a, b), abs=1e-12)
        assert measure(np.array(renamed), np.array(reordered)) == pytest.approx(measure(a, b), abs=1e-12)


@pytest.mark.parametrize("labels", [[0], [3, 3, 3], [0, 1, 2, 3], [0, 0, 1]], ids=["n=1", "one", "singletons", "two"])
def test_equal_clusterings(labels: list[int]) -> None:
    assert variation_of_information(labels, labels) == 0
    assert adjusted_rand_index(labels, labels) == 1
    assert normalised_mutual_information(labels, labels) == pytest.approx(1)


def test_one_group_against_singletons() -> None:
    one, single = [0] * 8, list(range(8))
    assert variation_of_information(one, single) == pytest.approx(math.log(8))
    assert adjusted_rand_index(one, single) == 0
    assert normalised_mutual_information(one, single) == 0


def test_many_items_do_not_overflow() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 300_000)
    assert adjusted_rand_index(a, a) == 1
    assert abs(adjusted_rand_index(a, rng.permutation(a))) < 1e-3


@pytest.mark.parametrize("measure", MEASURES)
def test_different_lengths_are_refused(measure) -> None:
    with pytest.raises(ValueError, match="same items"):
        measure([0, 1], [0])
    with pytest.raises(ValueError, match="same items"):
        measure([], [])
