"""Aggregate a table of labels: several methods side by side, scored where the truth is known, written as tables."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.methods import METHODS, names_of
from crowdclust_app.domain.names import Names, path_key
from crowdclust_app.inference.aggregators import Aggregator, FitStep, LabelTable, encode_labels, method_named
from crowdclust_app.inference.aggregators.columns import number_of
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.prior_choice import ChosenPrior, choose_prior
from crowdclust_app.inference.aggregators.registry import warm_up
from crowdclust_app.inference.aggregators.scoring import score
from crowdclust_app.io.csvtext import write_table
from crowdclust_app.io.label_tables import LabelRows, read_labels
from crowdclust_app.io.tables import KnownNames, read_truth
from crowdclust_app.services.exchange.result_folders import folder_for, write_summary
from crowdclust_app.services.fits.sources import near_miss, table_warnings
from crowdclust_app.services.progress_report import Progress, ProgressReport
from crowdclust_app.services.verify.truth_matching import match_truth

if TYPE_CHECKING:
    from crowdclust_app.services.verify.features import Aligned, FeatureTable

ALL = "all"
AUTO = "auto"
INFERRED_HEADER = ("task", "label", "probability", "labels", "method")
RELIABILITY_HEADER = (
    "worker", "labels", "accuracy", "sensitivity", "specificity", "accuracy_sd", "sensitivity_sd", "specificity_sd",
    "method",
)  # fmt: skip
_PRECISION_HEADER = ("precision", "precision_sd")
# Parts of a method that progress is counted in.
_PARTS = 1000


@dataclass(frozen=True, slots=True)
class AggregateSettings:
    """How labels are aggregated.

    Parameters
    ----------
    method
        An aggregator or learner of `domain.methods`, or `all` for every method that the labels allow (the
        learners among them when there are features).
    prior
        Beta prior of a worker's coins, probabilities by accuracy (a discrete prior), or `auto` to choose a Beta prior
        by evidence; None for what each method is known for, 2,1 for most.
    prevalence
        Probability of the second class, `auto` to estimate it, `even`; None for what each method is known for.
    ties, repeats, classes, seed
        As every aggregator takes them.
    """

    method: str = "dawid-skene"
    prior: tuple[float, float] | Mapping[float, float] | Literal["auto"] | None = None
    prevalence: float | str | None = None
    ties: str = "undecided"
    repeats: str = "all"
    classes: tuple[str, ...] | None = None
    seed: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Give the settings as a summary holds them."""
        return {
            "method": self.method,
            "prior": _plain_prior(self.prior),
            "prevalence": self.prevalence,
            "ties": self.ties,
            "repeats": self.repeats,
            "classes": None if self.classes is None else list(self.classes),
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True)
class AggregateReport:
    """What came out.

    Parameters
    ----------
    fitted
        The aggregators after their fits, in the order of the methods.
    summary
        The figures (keys in docs/files.md).
    warnings
        Sentences about the files.
    written
        Files that were written.
    """

    fitted: tuple[Aggregator, ...]
    summary: dict[str, Any]
    warnings: tuple[str, ...]
    written: tuple[Path, ...] = ()


def aggregate_file(
    labels: Path,
    settings: AggregateSettings,
    *,
    truth: Path | None = None,
    features: Path | None = None,
    out: Path | None = None,
    columns: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> AggregateReport:
    """Aggregate a `labels.csv`.

    Parameters
    ----------
    labels
        Table with the columns `task,worker,label`.
    settings
        How.
    truth
        Table with the columns `task,label` to compare with.
    features
        Table with a task and its features in each row, for the learners.
    out
        Folder for `labels_inferred.csv`, `reliability.csv` and `summary.json`.
    columns
        What the table of labels calls its columns, where it calls them otherwise.
    progress, cancel
        As everywhere.

    Raises
    ------
    UserError
        When a file or a setting is wrong, or no method can be applied. Nothing is written then.
    Cancelled
        When `cancel` says so.
    """
    if progress is not None:
        progress(ProgressReport(0, None, "reading the labels"))
    rows = read_labels(labels, columns=columns)
    warnings = list(table_warnings(labels, rows.unknown_columns, rows.notes))
    known: Mapping[str, str] | None = None
    if truth is not None:
        known, about_truth = _read_truth(truth, rows, settings.classes)
        warnings += about_truth
    described = None if features is None else _read_features(features, settings)
    with folder_for(out) if out is not None else nullcontext():
        report = aggregate_rows(
            rows, settings, truth=known, features=described, where=str(labels), progress=progress, cancel=cancel
        )
        warnings += report.warnings
        report.summary["warnings"] = warnings
        written = write_report(report, out) if out is not None else ()
    return replace(report, warnings=tuple(warnings), written=written)


def aggregate_rows(
    rows: LabelRows,
    settings: AggregateSettings,
    *,
    truth: Mapping[str, str] | None = None,
    features: FeatureTable | None = None,
    where: str | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> AggregateReport:
    """Aggregate labels that are in memory; `where` names them in messages. Otherwise as `aggregate_file`."""
    try:
        table = encode_labels(
            rows.task,
            rows.worker,
            rows.label,
            classes=settings.classes,
            repeats=settings.repeats,  # type: ignore[arg-type]  # checked by the function
        )
    except UserError as error:
        raise UserError(error.what, where=where, todo=error.todo) from error
    aligned = None if features is None else _aligned(table, features)
    chosen: dict[int, ChosenPrior] = {}
    fitted, skipped = _fit_methods(table, aligned, settings, rows.ordered, chosen, where, progress, cancel)
    summary = {
        "tasks": table.n_tasks,
        "workers": table.n_workers,
        "labels": table.n_labels,
        "classes": [str(value) for value in table.classes],
        "dropped": table.dropped,
        "repeated": table.repeated,
        "conflicting": table.conflicting,
        "repeats": table.repeats,
        "tasks_without_labels": [str(task) for task in _unlabelled(table)],
        "features": None if aligned is None else aligned.X.shape[1],
        "predicted": None if aligned is None else len(aligned.items) - int((table.task_counts > 0).sum()),
        "methods": [_figures(method, truth) for method in fitted],
        "skipped": skipped,
        "priors": [
            {
                "coins": coins,
                "prior": _plain_prior(found.prior),
                "bound": found.bound,
                "usual_prior": _plain_prior(found.usual),
                "usual_bound": found.usual_bound,
            }
            for coins, found in chosen.items()
        ],
        "settings": settings.as_dict(),
    }
    notes = _unused_settings(settings.method, settings.prevalence, aligned is not None)
    return AggregateReport(tuple(fitted), summary, notes if aligned is None else (*aligned.notes, *notes))


def _unlabelled(table: LabelTable) -> list[Hashable]:
    return [task for task, count in zip(table.tasks, table.task_counts.tolist(), strict=True) if not count]


def write_report(report: AggregateReport, folder: Path) -> tuple[Path, ...]:
    """Write `labels_inferred.csv`, `reliability.csv` and `summary.json` into a folder that exists."""
    inferred, reliability = folder / "labels_inferred.csv", folder / "reliability.csv"
    write_table(inferred, INFERRED_HEADER, _inferred_rows(report.fitted))
    measured = any(hasattr(method, "precision_") for method in report.fitted)
    header = (*RELIABILITY_HEADER, *_PRECISION_HEADER) if measured else RELIABILITY_HEADER
    write_table(reliability, header, _reliability_rows(report.fitted, measured))
    return inferred, reliability, write_summary(folder, report.summary)


def _read_truth(path: Path, rows: LabelRows, classes: Sequence[str] | None) -> tuple[Mapping[str, str], list[str]]:
    names = Names(set(rows.task), key=path_key)
    truth = read_truth(path, KnownNames(items=names))
    labelled = {task for task, label in zip(rows.task, rows.label, strict=True) if label is not None}
    compared = {task: label for task, label in truth.items() if task in labelled}
    if not truth.keys() & set(rows.task):
        what = f"not one of its tasks has labels{near_miss(names, truth)}"
        raise UserError(what, where=str(path), todo="check that both tables name the tasks alike")
    matched, sentences = match_truth(compared, rows.label, path, classes)
    return {**truth, **matched}, [*table_warnings(path, truth.unknown_columns, truth.notes), *sentences]


def _read_features(path: Path, settings: AggregateSettings) -> FeatureTable:
    learners = names_of("learner")
    if settings.method not in (*learners, ALL):
        raise UserError(f"{settings.method} takes no features", todo=f"take {', '.join(learners)} or all, or none")
    # most aggregations have no features, and start without SciPy
    from crowdclust_app.services.verify.features import features_from_file

    return features_from_file(path)


def _aligned(table: LabelTable, features: FeatureTable) -> Aligned:
    # most aggregations have no features, and start without SciPy
    from crowdclust_app.services.verify.learner_fits import align_to

    return align_to(table, features)


def _fit_methods(
    table: LabelTable,
    aligned: Aligned | None,
    settings: AggregateSettings,
    ordered: bool,
    chosen: dict[int, ChosenPrior],
    where: str | None,
    progress: Progress | None,
    cancel: CancelToken | None,
) -> tuple[list[Aggregator], list[dict[str, str]]]:
    """Fit what was asked for; of `all`, what cannot be applied is skipped with its reason.

    Priors that are chosen by evidence go into `chosen`, by the number of coins.
    """
    learners = names_of("learner")
    names = [name for name in names_of("aggregator") if METHODS[name].scale != "interval" or _measured(table)]
    names += learners if aligned is not None else ()
    if settings.method != ALL:
        names = [settings.method if settings.method in learners else method_named(settings.method).name]
    fitted: list[Aggregator] = []
    skipped: list[dict[str, str]] = []
    first: UserError | None = None
    for number, name in enumerate(names):
        if cancel is not None:
            cancel.check()
        listen = _listener(name, number, len(names), progress)
        try:
            if name in learners:
                method = _learn(name, table, aligned, settings, listen, cancel)
            else:
                method = _make(name, settings, ordered)
                if settings.prior == AUTO:
                    method.set_params(prior=_chosen_prior(method, table, settings, chosen, progress, cancel))
                _prepare(method, table, number, len(names), progress)
                method.fit_encoded(table, progress=listen, cancel=cancel)
        except UserError as error:
            first = first or error
            skipped.append({"method": name, "reason": str(error)})
            continue
        fitted.append(method)
    if not fitted and first is not None:
        raise UserError(first.what, where=where, todo=first.todo) from first
    return fitted, skipped


def _learn(
    name: str,
    table: LabelTable,
    aligned: Aligned | None,
    settings: AggregateSettings,
    listen: Any,
    cancel: CancelToken | None,
) -> Aggregator:
    # most aggregations need no learner, and start without SciPy
    from crowdclust_app.services.verify.learner_fits import fit_learner, make_learner

    if isinstance(settings.prior, str | Mapping):
        raise UserError(f"{name} takes a Beta prior only", todo="give two numbers such as 2,1")
    learner = make_learner(
        name,
        prior=settings.prior,
        prevalence=settings.prevalence,
        ties=settings.ties,
        seed=settings.seed,
        own_scale=aligned is not None and aligned.own_scale,
    )
    # it has every field of an aggregator
    return cast("Aggregator", fit_learner(learner, table, aligned, progress=listen, cancel=cancel))


def _unused_settings(method: str, prevalence: float | str | None, has_features: bool) -> tuple[str, ...]:
    """Sentences about settings that a learner does not use.

    Parameters
    ----------
    method
        Any aggregator or learner.
    prevalence
        As in `Aggregator`.
    has_features
        Whether it learns from features.
    """
    learns = method in names_of("learner")
    if prevalence in (None, "auto") or not learns or (method == "experts" and not has_features):
        return ()
    source = "the features" if has_features else "the labels"
    return (f"the prevalence that was set is not used: {method} learns it from {source}",)


def _measured(table: LabelTable) -> bool:
    """Whether the labels are measurements: all numbers, and not all whole ones."""
    numbers = [number_of(value) for value in table.classes]
    return all(number is not None for number in numbers) and any(number % 1 for number in numbers if number is not None)


def _chosen_prior(
    method: Aggregator,
    table: LabelTable,
    settings: AggregateSettings,
    chosen: dict[int, ChosenPrior],
    progress: Progress | None,
    cancel: CancelToken | None,
) -> tuple[float, float]:
    """The Beta prior that evidence chooses for methods with as many coins."""
    if METHODS[method.name].scale == "interval":
        return method.usual_prior
    if method.coins not in chosen:
        run = Iterations(1, 0.0, _listener("choosing the prior", 0, 1, progress), cancel)
        prevalence = settings.prevalence
        if prevalence is None and method.estimates_prevalence:
            prevalence = "auto"
        chosen[method.coins] = choose_prior(table, coins=method.coins, prevalence=prevalence, run=run)  # type: ignore[arg-type]
    return chosen[method.coins].prior


def _plain_prior(prior: tuple[float, float] | Mapping[float, float] | str | None) -> Any:
    """A prior as a summary holds it."""
    if prior is None or isinstance(prior, str):
        return prior
    return {f"{point:g}": share for point, share in prior.items()} if isinstance(prior, Mapping) else list(prior)


def _make(name: str, settings: AggregateSettings, ordered: bool) -> Aggregator:
    method = method_named(name)(
        prior=settings.prior,  # type: ignore[arg-type]  # checked by the fit
        prevalence=settings.prevalence,  # type: ignore[arg-type]
        ties=settings.ties,  # type: ignore[arg-type]
        repeats=settings.repeats,  # type: ignore[arg-type]
        classes=settings.classes,
        seed=settings.seed,
    )
    if ordered and "order" in method.get_params():
        method.set_params(order="arrival")
    return method


def _prepare(method: Aggregator, table: LabelTable, number: int, total: int, progress: Progress | None) -> None:
    """Compile (or load) what a method needs on a handful of labels, so that its seconds are those of the fit."""
    if not method.compiled or (method.most_classes is not None and table.n_classes > method.most_classes):
        return
    if progress is not None:
        progress(ProgressReport(number * _PARTS, total * _PARTS, f"preparing {method.name}"))
    warm_up(method.name)


def _listener(name: str, number: int, total: int, progress: Progress | None) -> Any:
    if progress is None:
        return None

    def listen(step: FitStep) -> None:
        part = math.floor(_PARTS * min(1.0, step.iteration / step.max_iterations))
        progress(ProgressReport(number * _PARTS + part, total * _PARTS, name))

    return listen


def _figures(method: Aggregator, truth: Mapping[str, str] | None) -> dict[str, Any]:
    scores = None if truth is None else score(method, truth)  # type: ignore[arg-type]  # a str is hashable
    return {
        "method": method.name,
        "error": scores.error if scores else None,
        "log_loss": scores.log_loss if scores else None,
        "brier": scores.brier if scores else None,
        "rmse": scores.rmse if scores else None,
        "truth_tasks": scores.tasks if scores else None,
        "ties": int(method.ties_.sum()),
        "undecided": sum(label is None for label in method.labels_),
        "seconds": method.seconds_,
        "iterations": method.n_iterations_,
        "converged": method.converged_,
        "bound": method.lower_bounds_[-1] if method.lower_bounds_ else None,
        "prevalence": [float(share) for share in method.prevalence_],
        "notes": list(method.notes_),
    }


def _inferred_rows(fitted: Sequence[Aggregator]) -> Iterator[tuple[Any, ...]]:
    for method in fitted:
        best = method.probabilities_.max(axis=1, initial=-math.inf)
        for row, task in enumerate(method.tasks_):
            code = method.codes_[row]
            probability = method.probabilities_[row, code] if code >= 0 else best[row]
            probability = float(probability) if math.isfinite(probability) else None
            yield task, method.labels_[row], probability, int(method.label_counts_[row]), method.name


def _reliability_rows(fitted: Sequence[Aggregator], measured: bool) -> Iterator[tuple[Any, ...]]:
    for method in fitted:
        precisions = [getattr(method, name, None) for name in ("precision_", "precision_sd_")] if measured else []
        for row, worker in enumerate(method.workers_):
            extra = [None if column is None else float(column[row]) for column in precisions]
            yield worker, *reliability_figures(method, row), *extra


def reliability_figures(method: Aggregator, row: int) -> tuple[Any, ...]:
    """What `RELIABILITY_HEADER` has of one worker behind the name."""
    columns = (
        method.accuracy_, method.sensitivity_, method.specificity_,
        method.accuracy_sd_, method.sensitivity_sd_, method.specificity_sd_,
    )  # fmt: skip
    return int(method.worker_label_counts_[row]), *(float(column[row]) for column in columns), method.name
