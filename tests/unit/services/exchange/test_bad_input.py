"""Campaigns that nobody wishes for: every fit ends with a result or one clear sentence, and never with a NaN."""

from __future__ import annotations

import json

import numpy as np
import pytest

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.services.fits.fitting import fit_table
from crowdclust_app.services.fits.results import FitResult

AUTOMATIC = FitSettings()

MAY_BE_NAN = {"heldout_workers", "heldout_figures"}
"""Where NaN says that a worker has no held-out label; it is left blank wherever it is shown."""


def fit(*responses: tuple[str, str, str, str]) -> FitResult:
    """Fit responses given as HIT, worker, items and groups, a letter each."""
    return fit_table(
        ResponseTable.from_responses(Response(h, w, tuple(items), tuple(groups)) for h, w, items, groups in responses),
        AUTOMATIC,
    )


def assert_sound(result: FitResult) -> None:
    for name in FitResult.__dataclass_fields__:
        value = getattr(result, name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and name not in MAY_BE_NAN:
            assert np.isfinite(value).all(), name
    json.dumps(result.summary, allow_nan=False)
    np.testing.assert_allclose(result.responsibilities.sum(axis=1), 1.0)
    assert len(result.labels) == len(result.responsibilities)
    assert all(sentence.strip().endswith(".") for sentence in result.summary["verdicts"])


def test_one_response() -> None:
    result = fit(("h", "w", "abcdef", "112233"))
    assert_sound(result)
    assert "No response could be held out" in " ".join(result.summary["verdicts"])


def test_two_items() -> None:
    result = fit(("h", "w", "ab", "11"), ("h", "v", "ab", "12"))
    assert_sound(result)
    assert len(result.labels) == 2


def test_one_item_in_every_response_is_said_in_a_sentence() -> None:
    with pytest.raises(UserError, match="no response holds two items"):
        fit(("h", "w", "a", "1"), ("g", "w", "b", "1"))


def dealt(n_items: int, n_responses: int, size: int, n_workers: int, seed: int = 0) -> list[tuple[str, str, list[int]]]:
    random = np.random.default_rng(seed)
    return [
        (f"h{n}", f"w{n % n_workers}", random.choice(n_items, size=size, replace=False).tolist())
        for n in range(n_responses)
    ]


def table_of(dealt_out: list[tuple[str, str, list[int]]], group) -> ResponseTable:
    return ResponseTable.from_responses(
        Response(hit, worker, tuple(map(str, items)), tuple(str(group(item)) for item in items))
        for hit, worker, items in dealt_out
    )


def test_one_worker() -> None:
    result = fit_table(table_of(dealt(24, 20, 6, 1), lambda item: item % 3), AUTOMATIC)
    assert_sound(result)
    assert result.summary["clusters"] == 3


def test_every_pair_the_same() -> None:
    result = fit_table(table_of(dealt(20, 20, 6, 4), lambda item: 0), AUTOMATIC)
    assert_sound(result)
    assert result.summary["clusters"] == 1
    verdicts = " ".join(result.summary["verdicts"])
    assert "No structure found" in verdicts
    assert "one group for everything" in verdicts


def test_every_pair_different() -> None:
    result = fit_table(table_of(dealt(20, 20, 6, 4), lambda item: item), AUTOMATIC)
    assert_sound(result)
    verdicts = " ".join(result.summary["verdicts"])
    assert "No structure found" in verdicts
    assert "a group of its own for everything" in verdicts


def test_contradicting_repeats() -> None:
    result = fit(*[("h", "w", "abcdef", groups) for groups in ("111222", "121212", "123123", "111111", "123456") * 3])
    assert_sound(result)


def test_sizes_from_two_to_two_hundred() -> None:
    random = np.random.default_rng(1)
    sizes = [2, 3, 5, 8, 13, 40, 90, 200] * 2
    answers = [
        (f"h{n}", f"w{n % 4}", random.choice(220, size=size, replace=False).tolist()) for n, size in enumerate(sizes)
    ]
    result = fit_table(table_of(answers, lambda item: item % 3), FitSettings(n_starts=1))
    assert_sound(result)
    assert result.summary["clusters"] == 3


def test_groups_named_by_text() -> None:
    names = ("Vögel", "=1+1", "dogs, small")
    result = fit_table(table_of(dealt(24, 24, 6, 4), lambda item: names[item % 3]), AUTOMATIC)
    assert_sound(result)
    assert result.summary["clusters"] == 3


def test_items_that_nothing_joins_and_items_never_shown_are_named() -> None:
    apart = [("h", "w", "abc", "112"), ("g", "w", "def", "122"), ("h", "v", "abc", "112"), ("g", "v", "def", "122")]
    table = ResponseTable.from_responses(
        (Response(h, w, tuple(items), tuple(groups)) for h, w, items, groups in apart), item_names=("z",)
    )
    result = fit_table(table, AUTOMATIC)
    assert_sound(result)
    verdicts = " ".join(result.summary["verdicts"])
    assert "separate parts" in verdicts or "parts" in verdicts
    assert "never shown" in verdicts or "in no" in verdicts
    assert result.labels[0] == 0
