"""Enhanced Bayesian classifier combination against enumeration, against its special case, and on correlated workers."""

# mypy: disable-error-code="attr-defined, arg-type"
# what is fitted has names that not all aggregators share

from __future__ import annotations

import itertools

import numpy as np
import pytest
from label_tables import of_classes, simulated
from scipy.special import gammaln

from crowdclust_app.domain.errors import UserError
from crowdclust_app.inference.aggregators import EBCC, DawidSkene, LabelTable, TwoCoinMeanField, encode_labels
from crowdclust_app.inference.aggregators.scoring import score


def dirichlet_multinomial(counts: np.ndarray, prior: np.ndarray) -> float:
    """Log-probability of draws with these counts, in one order."""
    total = gammaln(prior.sum(axis=-1)) - gammaln((prior + counts).sum(axis=-1))
    return float((total + (gammaln(prior + counts) - gammaln(prior)).sum(axis=-1)).sum())


def log_evidence(table: LabelTable, subtypes: int, concentration: float, prior: tuple[float, float]) -> float:
    """Log-probability of the labels: every class and subtype of every task summed out."""
    size = table.n_classes
    matrix = np.full((size, size), prior[1]) + np.eye(size) * (prior[0] - prior[1])
    shares = table.shares.sum(axis=0)
    of_subtypes = np.full((size, subtypes), concentration / subtypes)
    logs = []
    for world in itertools.product(range(size * subtypes), repeat=table.n_tasks):
        kinds = np.array(world)
        counts = np.zeros((size, subtypes))
        np.add.at(counts, (kinds // subtypes, kinds % subtypes), 1)
        said = np.zeros((table.n_workers, size, subtypes, size))
        mine = kinds[table.task]
        np.add.at(said, (table.worker, mine // subtypes, mine % subtypes, table.label), 1)
        log = dirichlet_multinomial(counts.sum(axis=1), shares) + dirichlet_multinomial(counts, of_subtypes)
        logs.append(log + dirichlet_multinomial(said, np.broadcast_to(matrix[:, None], said.shape)))
    return float(np.logaddexp.reduce(logs))


@pytest.mark.parametrize(("classes", "subtypes", "tasks"), [(2, 1, 8), (2, 2, 6), (3, 2, 4)])
def test_the_bound_is_below_the_evidence_close_and_never_falls(classes: int, subtypes: int, tasks: int) -> None:
    for seed in range(2):
        table = of_classes(classes, tasks=tasks, workers=4, per_task=4, seed=seed)
        evidence = log_evidence(table, subtypes, 0.8, (3.0, 1.0))
        fitted = EBCC(subtypes=subtypes, concentration=0.8, prior=(3.0, 1.0), n_starts=6, tolerance=1e-10).fit(table)
        assert evidence - 4.0 < fitted.lower_bounds_[-1] < evidence
        assert np.diff(fitted.lower_bounds_).min() > -1e-9
        assert fitted.lower_bounds_[-1] == fitted.start_bounds_.max()
        assert fitted.subtypes_.sum() == pytest.approx(tasks)


@pytest.mark.parametrize("prevalence", ["even", 0.3])
def test_one_subtype_is_mean_field_with_two_coins(prevalence: float | str) -> None:
    table, _ = simulated(40, 9, 4, seed=5)
    settings = {"prior": (3.0, 1.5), "prevalence": prevalence, "tolerance": 0.0, "max_iterations": 30}
    one = EBCC(subtypes=1, n_starts=1, **settings).fit_encoded(table)
    expected = TwoCoinMeanField(**settings).fit_encoded(table)
    np.testing.assert_allclose(one.probabilities_, expected.probabilities_, atol=1e-10)
    np.testing.assert_allclose(one.lower_bounds_, expected.lower_bounds_, atol=1e-8)


def test_workers_who_err_together_do_not_outvote_the_others() -> None:
    rng = np.random.default_rng(0)
    truth, misleading = rng.integers(0, 3, 600), rng.random(600) < 0.3
    columns = []
    for worker in range(12):
        # half of the workers are taken in by the same tasks, on which the other half are good
        skill = np.where(misleading, 0.2, 0.85) if worker < 6 else np.where(misleading, 0.9, 0.65)
        wrong = (truth + rng.integers(1, 3, 600)) % 3
        columns.append(np.where(rng.random(600) < skill, truth, wrong))
    table = encode_labels(np.tile(np.arange(600), 12), np.repeat(np.arange(12), 600), np.concatenate(columns))
    known = dict(enumerate(truth.tolist()))
    fitted = EBCC(n_starts=10).fit_encoded(table)
    error, independent = score(fitted, known).error, score(DawidSkene().fit_encoded(table), known).error
    assert error is not None
    assert independent is not None
    assert error < 0.5 * independent
    # of each class the tasks that mislead and those that do not
    assert np.bincount(fitted.subtype_classes_[fitted.subtypes_ > 30]).tolist() == [2, 2, 2]


def test_starts_are_drawn_by_the_seed_and_fewer_for_many_labels() -> None:
    table, _ = simulated(30, 8, 4)
    assert len(EBCC().fit_encoded(table).start_bounds_) == 40
    first, again = (EBCC(seed=3, n_starts=2).fit_encoded(table) for _ in range(2))
    np.testing.assert_array_equal(first.probabilities_, again.probabilities_)
    rng = np.random.default_rng(0)
    many = LabelTable(tuple(range(1000)), tuple(range(50)), (0, 1), *rng.integers(0, (1000, 50, 2), (200_000, 3)).T)
    assert len(EBCC(max_iterations=1).fit_encoded(many).start_bounds_) == 20
    for wrong in ({"subtypes": 0}, {"n_starts": 0}, {"concentration": 0.0}):
        with pytest.raises(UserError, match="subtypes, concentration or n_starts is out of range"):
            EBCC(**wrong).fit(table)
    with pytest.raises(UserError, match=r"ebcc needs [\d,]+ probabilities for these labels, too many; set fewer"):
        EBCC(subtypes=10**7).fit(table)
