"""The classifiers that learn from experts, as the experiments with them want them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from benchmarks.experiments.expert_sets import FeatureSet, LearnedClasses
    from benchmarks.experiments.gp_active_sets import ActiveRule
    from crowdclust_app.domain.cancellation import CancelToken
    from crowdclust_app.inference.aggregators.label_table import LabelTable
    from crowdclust_app.inference.experts import GaussianProcessExperts

# What an aggregator is called in the name of a process on its hard labels.
_AND_PROCESS = "+gp"
_NOTHING: dict[str, list[Any]] = {"task": [], "worker": [], "label": []}


@contextmanager
def _quietly() -> Iterator[None]:
    """A fit that ends too early is a figure like any other."""
    from crowdclust_app.domain.errors import NotConvergedWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        yield


def _process(train: FeatureSet, **settings: Any) -> GaussianProcessExperts:
    from crowdclust_app.inference.experts import GaussianProcessExperts

    return GaussianProcessExperts(standardise=train.scale, classes=(0, 1), **settings)


def _trusting(train: FeatureSet, labels: Any, seed: int, cancel: CancelToken | None) -> GaussianProcessExperts:
    """The same process, for which these labels (1, 0, or -1 for none) are as good as certain."""
    model = _process(train, seed=seed)
    with _quietly():
        model.fit(train.X, _NOTHING, gold=_known(labels), cancel=cancel)
    return model


def _known(labels: Any) -> dict[int, int]:
    return {int(row): int(labels[row]) for row in np.flatnonzero(labels >= 0)}


def _table(said: Any) -> LabelTable:
    from crowdclust_app.inference.aggregators import LabelTable

    item, worker = np.nonzero(said)
    label = (said[item, worker] > 0).astype(np.int64)
    return LabelTable(tuple(range(len(said))), tuple(range(said.shape[1])), (0, 1), item, worker, label)


class ExpertLearner:
    """The methods of `run_crowds` and `run_active_sets`.

    Parameters
    ----------
    cancel
        Looked at within every fit.
    """

    def __init__(self, cancel: CancelToken | None = None) -> None:
        self._cancel = cancel

    def __call__(self, train: FeatureSet, said: Any, test: Any, method: str, seed: int) -> LearnedClasses:
        """Learn and predict, as `CrowdLearner` says."""
        from benchmarks.experiments.expert_sets import LearnedClasses

        began = time.process_time()
        none = np.empty(0)
        if method == "gp":
            model = _process(train, seed=seed)
            with _quietly():
                model.fit(train.X, said, cancel=self._cancel)
            found = (model.predict_proba(test)[:, 1], model.consensus_, model.expertise_, model.expertise_sd_)
        elif method == "experts":
            from crowdclust_app.inference.experts.logistic import LogisticExperts
            from crowdclust_app.services.verify.learner_fits import RIDGE

            logistic = LogisticExperts(ridge=RIDGE, classes=(0, 1), seed=seed)
            with _quietly():
                logistic.fit(train.X, _table(said), cancel=self._cancel)
            found = (logistic.predict_proba(test)[:, 1], logistic.probabilities_[:, 1], none, none)
        elif method == "gold" + _AND_PROCESS:
            process = _trusting(train, train.truth, seed, self._cancel)
            found = (process.predict_proba(test)[:, 1], train.truth.astype(np.float64), none, none)
        else:
            found = self._two_steps(train, said, test, method.removesuffix(_AND_PROCESS), seed)
        return LearnedClasses(*found, time.process_time() - began)

    def _two_steps(self, train: FeatureSet, said: Any, test: Any, name: str, seed: int) -> tuple[Any, Any, Any, Any]:
        """An aggregator, then the process on what it takes for the truth."""
        from crowdclust_app.inference.aggregators import method_named

        first = method_named(name)(classes=(0, 1), ties="random", seed=seed)
        with _quietly():
            first.fit_encoded(_table(said), cancel=self._cancel)
        process = _trusting(train, first.codes_, seed, self._cancel)
        knows = name not in ("majority", "soft-vote")
        expertise, spread = (first.accuracy_, first.accuracy_sd_) if knows else (np.empty(0), np.empty(0))
        return process.predict_proba(test)[:, 1], first.probabilities_[:, 1], expertise, spread

    def kernel(self, train: FeatureSet, said: Any, seed: int) -> tuple[float, float]:
        """Amplitude and length scale, learned from these items."""
        model = _process(train, active_set=None, seed=seed)
        with _quietly():
            model.fit(train.X, said, cancel=self._cancel)
        assert model.kernel_ is not None
        return model.kernel_.amplitude, model.kernel_.length_scale

    def learn(
        self, train: FeatureSet, said: Any, test: Any, kernel: tuple[float, float], active: ActiveRule, seed: int
    ) -> LearnedClasses:
        """Learn with this kernel and active set, and give the clean class of the test items."""
        from benchmarks.experiments.expert_sets import LearnedClasses
        from crowdclust_app.inference.experts import ActiveSet

        chosen: Any = ActiveSet(active.size, active.rule, active.all_sites) if active.size else None  # type: ignore[arg-type]
        amplitude, length_scale = kernel
        model = _process(
            train, active_set=chosen, seed=seed, learn_kernel=False, amplitude=amplitude, length_scale=length_scale
        )
        began = time.process_time()
        with _quietly():
            model.fit(train.X, said, cancel=self._cancel)
        seconds = time.process_time() - began
        clean = model.predict_proba(test, clean=True)[:, 1]
        return LearnedClasses(clean, model.consensus_, model.expertise_, model.expertise_sd_, seconds)


class AskingLearner:
    """A learner of `run_asking`: the joint model, or the same process on the majority's labels.

    Parameters
    ----------
    items
        The pool.
    kind
        `joint` or `majority`.
    seed
        Of what is drawn.
    cancel
        Looked at within every fit.
    """

    def __init__(
        self, items: FeatureSet, kind: Literal["joint", "majority"] | str, seed: int, cancel: CancelToken | None = None
    ) -> None:
        self._items = items
        self._joint = kind == "joint"
        self._cancel = cancel
        self._seed = seed
        self._model: GaussianProcessExperts | None = None

    def learn(self, said: Any) -> None:
        """Learn from all labels so far."""
        gold = None if self._joint else self._majority(said)
        given = said if self._joint else _NOTHING
        with _quietly():
            if self._model is None:
                self._model = _process(self._items, seed=self._seed)
                self._model.fit(self._items.X, given, gold=gold, cancel=self._cancel)
            else:
                self._model.update(given, gold=gold, cancel=self._cancel)

    def _majority(self, said: Any) -> dict[int, int]:
        votes = said.sum(axis=1)
        luck = np.random.default_rng([self._seed, 7]).integers(0, 2, len(said))
        hard = np.where(votes == 0, luck, votes > 0)
        return _known(np.where(said.any(axis=1), hard, -1))

    def _fitted(self) -> GaussianProcessExperts:
        assert self._model is not None
        return self._model

    def predict(self, X: Any) -> Any:
        """Probability of yes; shape (M,)."""
        return self._fitted().predict_proba(X)[:, 1]

    def item(self, candidates: Any) -> int:
        """The one of these items that is least certain."""
        question = self._fitted().next_question(["anybody"], candidates=candidates.tolist())
        assert question is not None
        return int(str(question.item))

    def workers(self) -> list[int]:
        """All workers, the most promising first."""
        return [int(str(name)) for name in self._fitted().rank_workers()]

    def expertise(self) -> Any:
        """How often each worker is thought to be right; empty for the majority."""
        return self._fitted().expertise_ if self._joint else np.empty(0)
