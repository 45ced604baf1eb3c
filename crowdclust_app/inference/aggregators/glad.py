"""Tasks of different difficulty and workers of different ability (GLAD, whitehill2009), and whether tasks differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.base import Aggregator, Common
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import LabelPosterior, normalise
from crowdclust_app.inference.aggregators.label_table import Floats, LabelTable, weighted_sums

# Logarithms of ease further out are as good as infinite.
_FARTHEST = 30.0
# Tasks of which a label is held out at least, for a standard error of the gain.
_FEWEST = 20


class GLAD(Aggregator):
    """A label is right with probability `s(ability of the worker x ease of the task)` (GLAD, whitehill2009).

    `s` is the logistic function; a wrong answer is any other class with equal probability. Abilities are normal around
    1, and so are the logarithms of ease, both with variance 1, as published. All are set to the mode of their
    posterior, the classes summed out; the paper climbs there by EM, here it is one climb by quasi-Newton steps. `prior`
    counts for the reliabilities alone, but for one that says that workers are wrong more often than right: abilities
    are then around -1.

    Whether tasks differ at all is judged on labels that are held out: `difficulty_gain_` is how much more probable they
    are, in nats a label, than in the same model with all tasks alike, and `notes_` says it.

    Parameters
    ----------
    held_out
        Share of the labels that is held out, in two more fits; 0 to leave this out.

    Attributes
    ----------
    ability_ : ndarray of shape (J,)
        1 is usual, 0 is a coin, below 0 is wrong more often than right.
    difficulty_ : ndarray of shape (M,)
        One over the ease: 0 is a task that everybody gets right who is not a coin.
    difficulty_gain_, difficulty_gain_se_ : float
        Gain on labels that were held out and its standard error over tasks; NaN where there are too few.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> data = cc.simulate_labels(100, seed=1)
    >>> found = GLAD().fit(data.labels)
    >>> bool((found.predict() == data.truth.loc[list(found.tasks_)].to_numpy()).mean() > 0.8)
    True
    >>> found.ability_.shape == found.accuracy_.shape
    True
    """

    name = "glad"
    most_classes = None
    compiled = True
    usual_iterations = 500

    def __init__(self, *, held_out: float = 0.2, **common: Unpack[Common]) -> None:
        super().__init__(**common)
        self.held_out = held_out

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        if not 0 <= self.held_out < 1:
            raise InvalidInputError("held_out is not between 0 and 1", todo="take 0.2")
        rows = table.canonical
        fitted = self._climb(rows, run, alike=False)
        gain, error = self._gain(rows, run) if self.held_out else (np.nan, np.nan)
        notes = []
        if abs(gain) > 2.0 * error:
            what = "tasks differ in difficulty" if gain > 0 else "that tasks differ in difficulty does not help"
            notes.append(f"{what}: {gain:+.4f} nats a held-out label (standard error {error:.4f})")
        elif np.isfinite(gain):
            notes.append(f"held-out labels do not tell whether tasks differ in difficulty ({gain:+.4f} nats a label)")
        extras = {
            "ability_": fitted.ability,
            "difficulty_": np.exp(-fitted.log_ease),
            "difficulty_gain_": gain,
            "difficulty_gain_se_": error,
        }
        return LabelPosterior(fitted.log_posterior, fitted.prevalence, extras, notes)

    def _climb(self, rows: LabelTable, run: Iterations, *, alike: bool) -> _Mode:
        """Climb to the mode from the means of the priors; `alike` keeps the ease of all tasks at its mean."""
        # most methods need no SciPy
        from scipy.optimize import minimize

        alpha, beta = self._beta
        problem = _Problem(rows, *self._start_prevalence(rows), 1.0 if alpha >= beta else -1.0, alike)
        seen: list[float] = []

        def loss(at: Floats) -> tuple[float, Floats]:
            value, slope = problem.value(at)
            seen.append(value)
            return -value, -slope

        def step(_: Floats) -> None:
            best = max(seen)
            gain = abs(best - run.bounds[-1]) / rows.n_labels if run.bounds else np.inf
            if not run.step(gain, best):
                raise StopIteration

        options = {"maxiter": run.max_iterations, "ftol": 0.0, "gtol": 1e-9}
        found = minimize(loss, problem.start, jac=True, method="L-BFGS-B", callback=step, options=options)
        if not run.iterations:
            run.step(0.0, -float(found.fun))
        return problem.mode(found.x)

    def _gain(self, rows: LabelTable, run: Iterations) -> tuple[float, float]:
        """Log-probability of held-out labels more than with all tasks alike, a label, and its standard error."""
        rng = np.random.default_rng(self.seed)
        out = rng.random(rows.n_labels) < self.held_out
        kept = replace(rows, task=rows.task[~out], worker=rows.worker[~out], label=rows.label[~out])
        counts = np.bincount(rows.task[out], minlength=rows.n_tasks)
        if (counts > 0).sum() < _FEWEST or not kept.n_labels:
            return np.nan, np.nan
        logs = []
        for alike in (False, True):
            fitted = self._climb(kept, run.again(quiet=True), alike=alike)
            right = fitted.right(rows.worker[out], rows.task[out])
            believed = np.exp(fitted.log_posterior[rows.task[out], rows.label[out]])
            wrong = (1.0 - right) * (1.0 - believed) / (rows.n_classes - 1)
            logs.append(np.log(np.maximum(right * believed + wrong, 1e-300)))
        of_task = weighted_sums(rows.task[out], logs[0] - logs[1], rows.n_tasks)
        gain = float(of_task.sum() / out.sum())
        # labels of one task are judged by one belief: tasks are what is independent
        rest = of_task - gain * counts
        return gain, float(np.sqrt((rest**2).sum()) / out.sum())


@dataclass(frozen=True, slots=True)
class _Mode:
    """Where a climb ended."""

    ability: Floats
    log_ease: Floats
    prevalence: Floats
    log_posterior: Floats

    def right(self, worker: Any, task: Any) -> Floats:
        """Probability that labels of these workers on these tasks are right."""
        size = self.ability[worker] * np.exp(self.log_ease[task])
        return np.asarray(np.exp(-np.logaddexp(0.0, -size)))


class _Problem:
    """The log posterior of abilities, of the logarithms of ease, and of the log-odds of an estimated prevalence."""

    def __init__(self, rows: LabelTable, prevalence: Floats, estimated: bool, mean: float, alike: bool) -> None:
        self.rows, self.prevalence, self.estimated, self.mean, self.alike = rows, prevalence, estimated, mean, alike
        self.cells = rows.task * rows.n_classes + rows.label
        self.labelled = rows.task_counts > 0
        ease = np.ones(0 if alike else rows.n_tasks)
        odds = np.zeros(rows.n_classes if estimated else 0)
        self.start: Floats = np.concatenate([np.full(rows.n_workers, mean), ease, odds])

    def _parts(self, at: Floats) -> tuple[Floats, Floats, Floats]:
        workers, tasks = self.rows.n_workers, self.rows.n_tasks
        ability = at[:workers]
        log_ease = np.ones(tasks) if self.alike else np.clip(at[workers : workers + tasks], -_FARTHEST, _FARTHEST)
        if not self.estimated:
            return ability, log_ease, np.log(self.prevalence)
        odds = at[-self.rows.n_classes :]
        return ability, log_ease, odds - np.logaddexp.reduce(odds)

    def _classes(self, size: Floats, log_prevalence: Floats) -> tuple[Floats, Floats]:
        """Log-probabilities of the classes of each task, and the log-probability of its labels."""
        rows = self.rows
        log_right = -np.logaddexp(0.0, -size)
        log_wrong = log_right - size - np.log(rows.n_classes - 1.0)
        logs = weighted_sums(self.cells, log_right - log_wrong, rows.n_tasks * rows.n_classes)
        missed = weighted_sums(rows.task, log_wrong, rows.n_tasks)
        return normalise(logs.reshape(rows.n_tasks, -1) + missed[:, None] + log_prevalence)

    def value(self, at: Floats) -> tuple[float, Floats]:
        """The log posterior up to a constant, and its slope."""
        rows = self.rows
        ability, log_ease, log_prevalence = self._parts(at)
        ease = np.exp(log_ease)[rows.task]
        size = ability[rows.worker] * ease
        logs, total = self._classes(size, log_prevalence)
        posterior = np.exp(logs)
        # of each label: how probably it is right, less how probable that was
        surplus = posterior[rows.task, rows.label] - np.exp(-np.logaddexp(0.0, -size))
        value = float(total.sum()) - 0.5 * float(((ability - self.mean) ** 2).sum() + ((log_ease - 1.0) ** 2).sum())
        slopes = [weighted_sums(rows.worker, surplus * ease, rows.n_workers) - (ability - self.mean)]
        if not self.alike:
            slopes.append(weighted_sums(rows.task, surplus * size, rows.n_tasks) - (log_ease - 1.0))
        if self.estimated:
            # tasks without labels say nothing about the prevalence
            known = posterior[self.labelled]
            slopes.append(known.sum(axis=0) - len(known) * np.exp(log_prevalence))
        return value, np.concatenate(slopes)

    def mode(self, at: Floats) -> _Mode:
        """What these parameters stand for."""
        ability, log_ease, log_prevalence = self._parts(at)
        size = ability[self.rows.worker] * np.exp(log_ease)[self.rows.task]
        logs, _ = self._classes(size, log_prevalence)
        return _Mode(ability, log_ease, np.exp(log_prevalence), logs)
