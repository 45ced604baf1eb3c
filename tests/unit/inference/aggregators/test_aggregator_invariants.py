"""What must not matter: the order of rows, the names of things, which class is called which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdclust_app.domain.methods import names_of
from crowdclust_app.inference.aggregators import Aggregator, encode_labels, method_named

# Gibbs, EBCC and CommunityBCC draw, and SBIC takes the labels one after another: they have tests of their own.
DRAWN = {"gibbs", "ebcc", "community-bcc", "sbic-fast", "sbic-sorted", "sbic-sorted-shared"}
STEADY = [name for name in names_of("aggregator") if name not in DRAWN | {"ordinal", "continuous"}]
# of pairs that agree equally strongly `te` takes the first by name
NAMELESS = [name for name in STEADY if name != "te"]
EVEN = {"prevalence": 0.5}

rows = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 1)),
    min_size=2,
    max_size=30,
    unique_by=lambda r: r[:2],
).filter(lambda found: len({label for _, _, label in found}) == 2)
invariant = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


def few_rounds(name: str, table: Sequence[tuple[Any, Any, Any]], **parameters: object) -> Aggregator:
    """Fit with few iterations: what holds, holds in each, and rounding has no time to grow at a saddle."""
    tasks, workers, labels = zip(*table, strict=True)
    encoded = encode_labels(list(tasks), list(workers), list(labels))
    return method_named(name)(max_iterations=3, tolerance=0.0, **parameters).fit_encoded(encoded)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", STEADY)
@given(table=rows, seed=st.integers(0, 99))
@invariant
def test_shuffled_rows_give_the_same_bits(name: str, table: list[tuple[int, int, int]], seed: int) -> None:
    shuffled = [table[at] for at in np.random.default_rng(seed).permutation(len(table))]
    expected, fitted = few_rounds(name, table), few_rounds(name, shuffled)
    np.testing.assert_array_equal(fitted.probabilities_, expected.probabilities_)
    np.testing.assert_array_equal(fitted.codes_, expected.codes_)


@pytest.mark.parametrize("name", NAMELESS)
@given(table=rows, seed=st.integers(0, 99))
@invariant
def test_other_names_give_the_same_labels(name: str, table: list[tuple[int, int, int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    task_name, worker_name = rng.permutation(6), rng.permutation(5)
    renamed = [(f"t{task_name[task]}", f"w{worker_name[worker]}", label) for task, worker, label in table]
    expected, fitted = few_rounds(name, table), few_rounds(name, renamed)
    back = [f"t{task_name[task]}" for task in expected.tasks_]
    np.testing.assert_allclose(fitted.predict_proba(back), expected.probabilities_, atol=1e-7)
    accuracy = dict(zip(fitted.workers_, fitted.accuracy_, strict=True))
    same = [accuracy[f"w{worker_name[worker]}"] for worker in expected.workers_]
    np.testing.assert_allclose(same, expected.accuracy_, atol=1e-7)


@pytest.mark.parametrize("name", STEADY)
@given(table=rows)
@invariant
def test_swapped_classes_give_swapped_labels(name: str, table: list[tuple[int, int, int]]) -> None:
    swapped = [(task, worker, 1 - label) for task, worker, label in table]
    expected, fitted = few_rounds(name, table, **EVEN), few_rounds(name, swapped, **EVEN)
    np.testing.assert_allclose(fitted.probabilities_[:, ::-1], expected.probabilities_, atol=1e-7)
    np.testing.assert_array_equal(fitted.ties_, expected.ties_)
    np.testing.assert_allclose(fitted.sensitivity_, expected.specificity_, atol=1e-7)
    np.testing.assert_allclose(fitted.accuracy_, expected.accuracy_, atol=1e-7)


@pytest.mark.parametrize("name", [n for n in names_of("aggregator") if n != "continuous"])
@given(table=rows)
@invariant
def test_results_are_always_sound(name: str, table: list[tuple[int, int, int]]) -> None:
    small = {"gibbs": {"burn_in": 3, "samples": 5}, "ebcc": {"n_starts": 2}}.get(name, {})
    fitted = few_rounds(name, table, **small)
    assert np.isfinite(fitted.probabilities_).all()
    np.testing.assert_allclose(fitted.probabilities_.sum(axis=1), 1.0, atol=1e-9)
    assert np.isfinite(fitted.lower_bounds_).all()
    for column in (fitted.accuracy_, fitted.sensitivity_, fitted.specificity_):
        assert ((column >= 0) & (column <= 1)).all()
    for column in (fitted.accuracy_sd_, fitted.sensitivity_sd_, fitted.specificity_sd_):
        assert ((column > 0) & (column < 0.5)).all()
    assert (fitted.codes_ >= 0).tolist() == [label is not None for label in fitted.labels_]
