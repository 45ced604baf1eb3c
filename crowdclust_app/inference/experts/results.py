"""What a fit found, in the fields of an aggregator and more, and the questions it would ask next."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtr

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.confusion_matrices import DawidSkene
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import LabelPosterior, Ties, decide
from crowdclust_app.inference.aggregators.label_table import Codes, Floats, LabelTable
from crowdclust_app.inference.aggregators.reliability import Reliability, estimate_reliability
from crowdclust_app.inference.experts.active_set import ActiveSet, predict_in_chunks
from crowdclust_app.inference.experts.features import NO_FEATURES
from crowdclust_app.inference.experts.fitting import State
from crowdclust_app.inference.experts.generalised_em import honesty_of
from crowdclust_app.inference.experts.item_classifier import class_values
from crowdclust_app.inference.experts.kernel import Kernel
from crowdclust_app.inference.experts.next_question import (
    QuestionChoice,
    best_workers,
    choose,
    entropy,
    expected_information,
)
from crowdclust_app.inference.experts.remarks import GOLD_UNUSED, FitFacts, remarks
from crowdclust_app.inference.experts.sites import label_likelihoods, responsibilities

_INTERVAL = (0.025, 0.975)
_LEAST = 1e-300


class ExpertResults:
    """The fitted fields of `GaussianProcessExperts`; not for use alone."""

    expertise_prior: tuple[float, float]
    active_set: ActiveSet | Literal["auto"] | None
    ties: Ties
    seed: int
    _X: Floats
    _items: tuple[Hashable, ...]
    _gold: tuple[Codes, Codes]
    _previous: State | None

    def _describe(self, table: LabelTable, state: State, run: Iterations, says_converged: bool) -> None:
        """Fill the fitted fields; whether a round of few steps has converged is only told where `says_converged`."""
        self.agreement_ = state.workers.agreement
        self.kernel_: Kernel | None = state.kernel
        self.active_rows_: Codes | None = state.members
        self.evidence_ = state.log_evidence
        found = responsibilities(state.z, label_likelihoods(state.labels, state.workers))
        consensus, clean = np.empty(len(self._X)), np.empty(len(self._X))
        consensus[state.rows], clean[state.rows] = found.consensus, found.clean
        others = np.setdiff1d(np.arange(len(self._X)), state.rows)
        if len(others):
            clean[others] = self._predict_rows(self._X[others], True, run.check)
            consensus[others] = self._noisy(clean[others])
        self.consensus_: Floats = consensus
        self.class_probability_: Floats = clean
        self.honesty_ = honesty_of(state.workers, state.labels)
        workers = slice(0, table.n_workers)
        self._describe_expertise(state.workers.expertise[workers], state.workers.right[workers], table.worker_counts)
        self._describe_table(table, run, state.converged)
        self.predicted_: NDArray[np.bool_] = np.ones(len(self._X), dtype=bool)
        self.predicted_[state.rows] = False
        facts = FitFacts(
            table, *self._gold, self.honesty_, state.mirrored, state.converged or not says_converged, run.iterations,
            same_features=len(self._X) > 1 and bool((np.ptp(self._X, axis=0) == 0).all()),
            published_rule=isinstance(self.active_set, ActiveSet) and self.active_set.rule == "predictive",
        )  # fmt: skip
        self.warnings_ = self.notes_ = tuple(remarks(facts))

    def _describe_expertise(self, expertise: Floats, right: Floats, counts: Codes) -> None:
        a, b = (float(number) for number in self.expertise_prior)
        right = np.clip(right, 0.0, counts)
        up, down = a + right, b + counts - right
        total = up + down
        self.expertise_: Floats = expertise.copy()
        self.expertise_sd_: Floats = np.sqrt(up * down / (total * total * (total + 1.0)))
        self.expertise_interval_: Floats = np.column_stack([betaincinv(up, down, share) for share in _INTERVAL])

    def _describe_table(self, table: LabelTable, run: Iterations, converged: bool) -> None:
        """Fill the fields that every aggregator has."""
        both = np.column_stack([1.0 - self.consensus_, self.consensus_])
        self.classes_, self.workers_ = class_values(table.classes), table.workers
        self.tasks_ = self.items_ = table.tasks
        self.probabilities_: Floats = both
        self.noise_ = 1.0 - self.agreement_
        self.prevalence_: Floats = both.mean(axis=0) if len(both) else np.array([0.5, 0.5])
        chosen = decide(
            LabelPosterior(np.log(np.maximum(both, _LEAST)), self.prevalence_),
            np.ones(len(both), dtype=bool), self.ties, self.seed,
        )  # fmt: skip
        self.codes_, self.ties_, self.tied_classes_ = chosen.codes, chosen.ties, chosen.tied_classes
        values = np.empty(3, dtype=object)
        values[:2] = table.classes  # the last is None, which the code -1 finds
        self.labels_: NDArray[np.object_] = values[chosen.codes]
        prior = (float(self.expertise_prior[0]), float(self.expertise_prior[1]))
        reliability = estimate_reliability(table.canonical, both, prior)
        for field_name in Reliability.__slots__:
            setattr(self, f"{field_name}_", getattr(reliability, field_name))
        self.label_counts_, self.worker_label_counts_ = table.task_counts, table.worker_counts
        without = np.flatnonzero(table.task_counts == 0)
        self.tasks_without_labels_ = tuple(table.tasks[number] for number in without)
        self.n_dropped_, self.n_repeated_ = table.dropped, table.repeated
        self.n_conflicting_, self.repeats_ = table.conflicting, table.repeats
        self.n_iterations_, self.converged_ = run.iterations, converged
        self.lower_bounds_ = tuple(run.bounds)
        self.seed_ = self.seed
        self._table = table

    def _fit_without_features(self, table: LabelTable, gold: Mapping[Any, Any] | None, run: Iterations) -> None:
        """Fall back to Dawid and Skene's model, whose prevalence stands for the classifier."""
        below = DawidSkene(ties=self.ties, seed=self.seed)
        counted = run.again()
        counted.max_iterations, counted.tolerance = DawidSkene.usual_iterations, below.tolerance
        below.fit_run(table, counted)
        self._gold = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        self._items = table.tasks
        self.agreement_ = 1.0
        self.consensus_ = self.class_probability_ = below.probabilities_[:, 1]
        self.kernel_, self.active_rows_, self.evidence_ = None, None, float(below.lower_bounds_[-1])
        self.predicted_ = table.task_counts == 0
        right = below.accuracy_ * table.worker_counts
        self._describe_expertise(below.accuracy_, right, table.worker_counts)
        counted_workers = table.worker_counts > 0
        odds = below.accuracy_[counted_workers]
        self.honesty_ = float((np.log(odds) - np.log1p(-odds)).sum())
        self._describe_table(table, counted, below.converged_)
        for field_name in Reliability.__slots__:
            setattr(self, f"{field_name}_", getattr(below, f"{field_name}_"))
        self.labels_, self.codes_, self.ties_ = below.labels_, below.codes_, below.ties_
        self.tied_classes_, self.prevalence_ = below.tied_classes_, below.prevalence_
        unused = (GOLD_UNUSED,) if gold else ()
        self.warnings_ = self.notes_ = (NO_FEATURES, *unused, *below.notes_)

    def _predict_rows(self, X: Floats, clean: bool, check: Callable[[], None] | None = None) -> Floats:
        """Probability of yes at scaled features; shape (M,)."""
        state = self._previous
        assert state is not None
        if state.field is None:
            yes = np.full(len(X), 0.5)
        else:
            mean, variance = predict_in_chunks(state.field, X, check)
            yes = np.asarray(ndtr(mean / np.sqrt(variance + 1.0)))
        return yes if clean else self._noisy(yes)

    def _noisy(self, clean: Floats) -> Floats:
        return self.agreement_ * clean + (1.0 - self.agreement_) * (1.0 - clean)

    def _of_workers(self, names: Sequence[Hashable]) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Numbers (-1 for newcomers), expertise and its spread."""
        number = {name: at for at, name in enumerate(self.workers_)}
        numbers = np.array([number.get(name, -1) for name in names], dtype=np.int64)
        a, b = (float(value) for value in self.expertise_prior)
        expertise = np.full(len(names), (a - 1.0) / (a + b - 2.0))
        spread = np.full(len(names), np.sqrt(a * b / ((a + b) ** 2 * (a + b + 1.0))))
        known = numbers >= 0
        expertise[known], spread[known] = self.expertise_[numbers[known]], self.expertise_sd_[numbers[known]]
        return numbers, expertise, spread

    def _candidates(self, names: Sequence[Hashable] | None) -> tuple[Codes, Codes]:
        """Rows to choose from, and those to choose from when there are none left of them."""
        if names is None:
            open_ = np.ones(len(self.items_), dtype=bool)
            open_[self._gold[0]] = False
            return np.flatnonzero(open_ & self.predicted_), np.flatnonzero(open_)
        number = {name: row for row, name in enumerate(self.items_)}
        unknown = [name for name in names if name not in number]
        if unknown:
            raise InvalidInputError(
                f"the item {unknown[0]} was not in the fit", todo="fit with all items you ask about"
            )
        rows = np.array(sorted({number[name] for name in names}), dtype=np.int64)
        return rows, rows

    def _asked(self, rows: Codes, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Who has labelled what; shape (C, W)."""
        place = np.full(len(self.items_), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        column = np.full(len(self.workers_), -1, dtype=np.int64)
        column[numbers[numbers >= 0]] = np.flatnonzero(numbers >= 0)
        row, worker = place[self._table.task], column[self._table.worker]
        both = (row >= 0) & (worker >= 0)
        asked = np.zeros((len(rows), len(numbers)), dtype=bool)
        asked[row[both], worker[both]] = True
        return asked

    def _choose(
        self, workers: Sequence[Hashable] | None, candidates: Sequence[Hashable] | None, honest_only: bool
    ) -> QuestionChoice | None:
        names = list(dict.fromkeys(self.workers_ if workers is None else workers))
        numbers, expertise, spread = self._of_workers(names)
        for rows in self._candidates(candidates):
            found = choose(self.consensus_, rows, expertise, spread, self._asked(rows, numbers), honest_only)
            if found is not None:
                return self._question(found[0], names[found[1]], float(expertise[found[1]]))
        return None

    def _rank_workers(self, workers: Sequence[Hashable] | None, honest_only: bool) -> list[Hashable]:
        names = list(dict.fromkeys(self.workers_ if workers is None else workers))
        _, expertise, spread = self._of_workers(names)
        return [names[at] for at in best_workers(expertise, spread, honest_only)]

    def _question(self, row: int, worker: Hashable, expertise: float) -> QuestionChoice:
        yes = self.consensus_[row : row + 1]
        information = expected_information(yes, np.array([expertise]))
        return QuestionChoice(self.items_[row], worker, float(entropy(yes)[0]), float(information[0]))
