"""Many labels, spread over tasks and workers in the ways that make some method's work grow faster than they do."""

from __future__ import annotations

import numpy as np
import pytest

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.methods import names_of
from crowdclust_app.inference.aggregators import LabelTable, method_named
from crowdclust_app.inference.aggregators.sbic import MOST_STEPS

LABELS = 20_000
OF_CLASSES = [name for name in names_of("aggregator") if name != "continuous"]
# tasks and workers of each label; whatever is of the square of a column's length shows
SHAPES = {
    "even": lambda rng: (np.repeat(np.arange(LABELS // 10), 10), _some(rng, LABELS // 10, 500, 10)),
    "one worker gave half": lambda rng: (
        np.tile(np.arange(LABELS // 2), 2),
        np.concatenate([np.zeros(LABELS // 2, dtype=np.int64), 1 + rng.integers(0, 100, LABELS // 2)]),
    ),
    "four workers": lambda _rng: (np.repeat(np.arange(LABELS // 4), 4), np.tile(np.arange(4), LABELS // 4)),
    "two workers": lambda _rng: (np.repeat(np.arange(LABELS // 2), 2), np.tile(np.arange(2), LABELS // 2)),
    "one worker": lambda _rng: (np.arange(LABELS), np.zeros(LABELS, dtype=np.int64)),
    "a crowd on ten tasks": lambda rng: (np.repeat(np.arange(10), LABELS // 10), _some(rng, 10, LABELS // 2, 2000)),
    "everybody once": lambda _rng: (np.repeat(np.arange(LABELS // 10), 10), np.arange(LABELS)),
}


def _some(rng: np.random.Generator, tasks: int, workers: int, per_task: int) -> np.ndarray:
    return np.concatenate([rng.permutation(workers)[:per_task] for _ in range(tasks)])


def labelled(shape: str) -> tuple[LabelTable, np.ndarray]:
    """A table of that shape, its rows in any order, by workers who are right three times in four; and the truth."""
    rng = np.random.default_rng(0)
    task, worker = SHAPES[shape](rng)
    truth = rng.random(task.max() + 1) < 0.5
    label = np.where(rng.random(LABELS) < 0.75, truth[task], ~truth[task]).astype(np.int64)
    order = rng.permutation(LABELS)
    # a crowd may leave out a name
    names, worker = np.unique(worker, return_inverse=True)
    table = LabelTable(
        tuple(range(len(truth))), tuple(names.tolist()), (0, 1), task[order], worker[order], label[order]
    )
    return table, truth


@pytest.mark.filterwarnings("ignore::crowdclust_app.domain.errors.NotConvergedWarning")
@pytest.mark.parametrize("shape", list(SHAPES))
@pytest.mark.parametrize("name", OF_CLASSES)
def test_many_labels_in_any_shape_are_a_result(name: str, shape: str) -> None:
    table, truth = labelled(shape)
    if name in {"te", "te-overlap"} and shape == "a crowd on ten tasks":
        with pytest.raises(UserError, match=f"^{name} compares every two workers who share a task, here about"):
            method_named(name)().fit_encoded(table)
        return
    if name == "sbic-sorted" and table.n_tasks * table.n_labels > MOST_STEPS:
        with pytest.raises(
            UserError, match=r"^sbic-sorted streams all 20,000 labels for each of .* sbic-sorted-shared"
        ):
            method_named(name)().fit_encoded(table)
        return
    # rounds differ from method to method; a few show what one costs
    few = {"n_starts": 2, "burn_in": 5, "samples": 10} if name == "gibbs" else {"max_iterations": 25}
    few |= {"ebcc": {"n_starts": 2}, "community-bcc": {"communities": 2, "n_starts": 1}}.get(name, {})
    fitted = method_named(name)(**few).fit_encoded(table)  # type: ignore[arg-type]
    assert np.isfinite(fitted.probabilities_).all()
    assert ((fitted.accuracy_ >= 0) & (fitted.accuracy_ <= 1)).all()
    wrong = np.abs((fitted.probabilities_[:, 1] > 0.5) - truth.astype(float))
    undecided = np.isclose(fitted.probabilities_[:, 1], 0.5)
    # the published triangular estimation gives no say to those who share no task with its one pair
    informed = table.n_labels > 9 * table.n_tasks and name != "te"
    assert np.where(undecided, 0.5, wrong).mean() < (0.2 if informed else 0.55)
