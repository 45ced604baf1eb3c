"""Features as a matrix: scaling, missing cells, names, gold items."""

from __future__ import annotations

import numpy as np
import pytest

from crowdclust_app.domain.errors import InvalidInputError, UserError
from crowdclust_app.inference.aggregators import encode_labels
from crowdclust_app.inference.experts import features
from crowdclust_app.inference.experts.features import fill_missing, fit_scaling, item_labels


def test_columns_come_to_one_scale_and_constant_ones_to_nothing() -> None:
    X = np.random.default_rng(0).normal(size=(50, 4)) * [1.0, 1e-200, 1e200, 0.0] + [5.0, 0.0, 0.0, 7.0]
    scaling = fit_scaling(X)
    scaled = scaling.apply(X)
    assert scaled.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-10)
    assert scaled.std(axis=0) == pytest.approx([1.0, 1.0, 1.0, 0.0])
    assert scaling.constant.tolist() == [False, False, False, True]
    assert fit_scaling(np.zeros((0, 2))).apply(np.zeros((0, 2))).shape == (0, 2)
    with pytest.raises(InvalidInputError, match="2 columns where the fit had 4"):
        scaling.apply(X[:, :2])


def test_a_column_of_one_value_is_constant_whatever_rounding_makes_of_it() -> None:
    X = np.full((1000, 1), 0.1)
    assert fit_scaling(X).constant.all()


def test_missing_cells_become_the_mean_of_their_column() -> None:
    X = np.array([[1.0, np.nan, np.nan], [3.0, 1e300, np.nan], [np.nan, 1e300, np.nan]])
    filled, count = fill_missing(X)
    assert count == 5
    assert filled[:, 0].tolist() == [1.0, 3.0, 2.0]
    assert filled[0, 1] == pytest.approx(1e300)
    assert filled[:, 2].tolist() == [0.0, 0.0, 0.0]
    whole, none = fill_missing(np.ones((2, 2)))
    assert (none, whole.tolist()) == (0, [[1.0, 1.0], [1.0, 1.0]])


def test_tasks_are_the_items_in_the_order_of_their_rows() -> None:
    table = {"task": ["b", "a", "b"], "worker": [1, 1, 2], "label": [0, 1, 1]}
    encoded = item_labels(3, table, items=["c", "b", "a"])
    assert encoded.tasks == ("c", "b", "a")
    assert encoded.task_counts.tolist() == [0, 2, 1]
    by_number = item_labels(4, [0, 3], [1, 1], [0, 1])
    assert by_number.tasks == (0, 1, 2, 3)
    assert item_labels(None, table).tasks == ("a", "b")
    with pytest.raises(ValueError, match="the task b has labels and no features"):
        item_labels(1, table, items=["a"])
    with pytest.raises(UserError, match="2 names of items for 3 rows"):
        item_labels(3, table, items=["a", "b"])


def test_gold_items_have_a_class_of_the_labels() -> None:
    table = encode_labels(["a", "b", "b"], [1, 1, 2], ["no", "yes", "yes"])
    assert features.gold_codes({"b": "yes", "elsewhere": "no"}, table).tolist() == [-1, 1]
    assert features.gold_codes(None, table).tolist() == [-1, -1]
    with pytest.raises(InvalidInputError, match="gold item a is of the class perhaps"):
        features.gold_codes({"a": "perhaps"}, table)


def test_labels_that_say_little_are_remarked_on() -> None:
    table = encode_labels([0, 1, 2], [0, 0, 0], [1, 1, 1], classes=(0, 1))
    found = features.remarks_on(table, has_features=False)
    assert features.NO_FEATURES in found
    assert features.FEW.format(count=3) in found
    assert features.ONE_CLASS.format(label=1) in found
    assert features.ONE_LABEL_AN_ITEM in found
    plenty = encode_labels(np.repeat(np.arange(40), 3), np.tile([0, 1, 2], 40), np.tile([0, 1, 1, 0], 30))
    assert features.remarks_on(plenty, has_features=True) == []
