"""Our aggregators beside those of crowd-kit, where that is installed: error and time on the same labels."""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.experiments.results import ResultSheet, Watch
    from benchmarks.label_sets import LabelSet

HEADER = (
    "data", "method", "error", "seconds", "theirs", "their_error", "their_seconds", "times_faster", "failure",
)  # fmt: skip

PAIRS = {
    "majority": ("MajorityVote", {}),
    "dawid-skene": ("DawidSkene", {}),
    "em": ("OneCoinDawidSkene", {}),
    "kos": ("KOS", {"random_state": 0}),
}
"""Methods that both have: our name, their class and what it is told."""

# The best of so many runs counts, of both; but no further run where they have taken so many seconds.
_RUNS, _ENOUGH = 9, 2.0


def compare_speed(sets: tuple[LabelSet, ...], seed: int, watch: Watch) -> ResultSheet | None:
    """Run every method that both have on every set.

    Parameters
    ----------
    sets
        Known sets of labels, of any number of classes.
    seed
        Of ours.
    watch
        May cancel.

    Returns
    -------
    Sheet or None
        None without sets or without crowd-kit.
    """
    from benchmarks.experiments.results import ResultSheet

    theirs = _crowd_kit() if sets else None
    if theirs is None:
        return None
    rows: list[tuple[Any, ...]] = []
    for number, one in enumerate(sets):
        watch.at(number, len(sets), f"crowd-kit, {one.name}")
        frame = _frame(one)
        for method, (name, told) in PAIRS.items():
            if method == "kos" and one.table.n_classes != 2:
                continue
            watch.check()
            error, seconds = _ours(one, frame, method, seed)
            row = (one.name, method, error, seconds, name)
            try:
                their_error, their_seconds = _theirs(one, frame, getattr(theirs, name), told)
            except Exception as failure:  # noqa: BLE001  # whatever another package makes of these labels
                rows.append((*row, None, None, None, f"{type(failure).__name__}: {failure}"))
            else:
                rows.append((*row, their_error, their_seconds, their_seconds / seconds, ""))
    return ResultSheet("crowd_kit", HEADER, tuple(rows))


def _crowd_kit() -> Any:
    """crowd-kit's aggregators; None when it is not installed. It is no dependency and is therefore not imported."""
    try:
        return importlib.import_module("crowdkit.aggregation")
    except ImportError:
        return None


def _ours(one: LabelSet, frame: Any, method: str, seed: int) -> tuple[float, float]:
    """Error and seconds, from a data frame to labels."""
    from crowdclust_app.inference.aggregators.registry import method_named, warm_up
    from crowdclust_app.inference.aggregators.scoring import score

    warm_up(method)
    seconds: list[float] = []
    while len(seconds) < _RUNS and sum(seconds) < _ENOUGH:
        began = time.perf_counter()
        model = method_named(method)(seed=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(frame)
        seconds.append(time.perf_counter() - began)
    truth: dict[Hashable, Hashable] = {task: one.truth[str(task)] for task in model.tasks_ if str(task) in one.truth}
    error = score(model, truth).error
    return float("nan") if error is None else error, min(seconds)


def _theirs(one: LabelSet, frame: Any, method: Any, told: dict[str, Any]) -> tuple[float, float]:
    """Error and seconds of one of theirs; their ties are broken as they break them."""
    from crowdclust_app.inference.aggregators.columns import label_key

    seconds: list[float] = []
    while len(seconds) < _RUNS and sum(seconds) < _ENOUGH:
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = method(**told).fit_predict(frame)
        seconds.append(time.perf_counter() - began)
    said = {str(task): label_key(label) for task, label in found.items()}
    wrong = [said.get(task) != label_key(label) for task, label in one.truth.items()]
    return sum(wrong) / len(wrong), min(seconds)


def _frame(one: LabelSet) -> Any:
    """The labels as both are given them: a data frame, whole numbers as such, as pandas reads a file."""
    pandas = importlib.import_module("pandas")
    table = one.table
    columns = {
        "task": [table.tasks[code] for code in table.task.tolist()],
        "worker": [table.workers[code] for code in table.worker.tolist()],
        "label": [table.classes[code] for code in table.label.tolist()],
    }
    whole = {name: all(isinstance(_typed(value), int) for value in values) for name, values in columns.items()}
    return pandas.DataFrame(
        {name: [_typed(value) for value in values] if whole[name] else values for name, values in columns.items()}
    )


def _typed(name: Any) -> Any:
    """A whole number as such, when it is written like one; anything else as it is."""
    text = str(name)
    return int(text) if text.isdecimal() and str(int(text)) == text else name
