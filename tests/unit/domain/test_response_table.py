"""Tables of responses made of columns."""

from __future__ import annotations

import pandas as pd
import pytest

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.domain.response_table import Response, ResponseTable, as_response_table

ROWS = {
    "hit": [1, 1, 2, 1, 2],
    "worker": ["ann", "ann", "ann", "bob", "ann"],
    "item": ["a", "b", "a", "b", "c"],
    "group": [1, 2, 7, 1, 7],
    "mood": ["fine"] * 5,
}


def test_rows_of_one_worker_in_one_hit_are_one_response() -> None:
    expected = ResponseTable.from_responses(
        [
            Response("1", "ann", ("a", "b"), ("1", "2")),
            Response("2", "ann", ("a", "c"), ("7", "7")),
            Response("1", "bob", ("b",), ("1",)),
        ]
    )
    for columns in (ROWS, pd.DataFrame(ROWS), pd.DataFrame(ROWS).set_index("mood")):
        assert as_response_table(columns).fingerprint() == expected.fingerprint()
    assert as_response_table(expected) is expected


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"worker": None}, "no column worker; give the columns hit, worker, item, group"),
        ({"group": [1, 2, None, 1, 7]}, "the group of row 2 is empty"),
        ({"group": [1, 2, float("nan"), 1, 7]}, "the group of row 2 is empty"),
        ({"group": pd.array([1, 2, pd.NA, 1, 7], dtype="Int64")}, "the group of row 2 is empty"),
        ({"item": ["a", "a", "a", "b", "c"]}, "the response of ann to 1 has the item a twice"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, object], words: str) -> None:
    columns = {name: cells for name, cells in (ROWS | change).items() if cells is not None}
    with pytest.raises(InvalidInputError, match=words):
        as_response_table(columns)


def test_an_item_may_be_called_nan() -> None:
    table = as_response_table({"hit": ["h", "h"], "worker": ["w", "w"], "item": ["nan", "b"], "group": ["None", "x"]})
    assert table.item_names == ("nan", "b")


def test_what_has_no_columns_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="responses are no int; give a data frame or a dict of columns"):
        as_response_table(5)
