"""Fitting the clusters: responses in, a run with everything it reports out."""

from __future__ import annotations

import time
from dataclasses import astuple, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError, no_convergence_warning
from crowdclust_app.domain.fit_settings import SETTINGS, FitSettings
from crowdclust_app.domain.methods import METHODS
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.inference.crowdclustering import Crowdclustering
from crowdclust_app.services.fits.baselines import fit_baseline
from crowdclust_app.services.fits.progress import Sweeps, reporter
from crowdclust_app.services.fits.resources import workforce
from crowdclust_app.services.fits.results import FitDiagnostics, FitResult
from crowdclust_app.services.fits.stability import cluster_stability
from crowdclust_app.services.fits.summary import summarise
from crowdclust_app.services.progress_report import Progress, ProgressReport


def fit_table(
    table: ResponseTable,
    settings: FitSettings,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
    threads: int | None = None,
) -> FitResult:
    """Infer the clusters behind a table of responses.

    Parameters
    ----------
    table
        The responses.
    settings
        Method, numbers, seed.
    progress
        Gets a `FitProgress` a sweep.
    cancel
        Stops the fit within a sweep.
    threads
        How many threads or processes share the work; None for as many as there are cores.

    Returns
    -------
    FitResult
        The same for the same table and settings, whatever the threads, but for `seconds` and `peak_memory_mb` of the
        summary.

    Raises
    ------
    UserError
        When there is nothing to infer from.
    Cancelled
        When the token says so.
    """
    _refuse_hopeless(table, settings)
    if METHODS[settings.method].kind == "baseline":
        crowdclustering = replace(settings, method="crowdclustering")
        return fit_baseline(
            table, settings, lambda: fit_table(table, crowdclustering, progress, cancel, threads), progress, cancel
        )
    if progress:
        progress(ProgressReport(0, None, "preparing"))

    compile_kernels()
    if cancel:
        cancel.check()
    began = time.perf_counter()
    parameters = {name: getattr(settings, name) for name in SETTINGS if name not in ("method", "bootstrap")}
    model = Crowdclustering(consensus=settings.method == "consensus", **parameters)
    with workforce(table, settings, threads) as (parallel, at_once):
        sweeps = Sweeps(reporter(settings, progress, at_once))
        with no_convergence_warning():
            model.fit(table, progress=sweeps, cancel=cancel, parallel=parallel)
    result = _result(model, table, sweeps.traces)
    draws = settings.bootstrap
    stability = cluster_stability(table, model, draws, settings.seed, progress, cancel) if draws else None
    seconds = time.perf_counter() - began
    summary = summarise(
        table,
        settings.as_dict(),
        result,
        seconds=seconds,
        heldout=model.heldout_,
        stability=stability,
        diagnostics=FitDiagnostics(
            n_unchanged=model.n_unchanged_,
            label_weight=model.label_weight_,
            too_little=model.too_little_,
            continuous=model.continuous_,
            fold_agreement=model.fold_agreement_,
            more_sets=model.more_sets_,
        ),
    )
    return replace(result, summary=summary)


def _refuse_hopeless(table: ResponseTable, settings: FitSettings) -> None:
    if not table.n_responses:
        raise UserError("there are no responses yet, so there is nothing to fit", todo="collect or import some first")
    if not table.n_pair_labels:
        what = "no response holds two items, so nothing says which items go together"
        raise UserError(what, todo="collect or import responses to HITs of two or more items")
    if isinstance(settings.n_clusters, int) and settings.n_clusters > table.n_items:
        what = f"{table.n_items} items cannot fall into {settings.n_clusters} clusters"
        raise UserError(what, todo="lower the number of clusters")


@cache
def compile_kernels() -> None:
    """Have the kernels compiled (once, some twenty seconds; then they are kept), so that no fit counts that time."""
    toy = ResponseTable.from_responses(
        Response(f"h{number}", f"w{number % 2}", tuple("abcdef"), tuple("112233")) for number in range(4)
    )
    quick: dict[str, Any] = {"dimensions": 2, "n_starts": 2, "layer_rounds": 2, "max_iterations": 2, "folds": 2}
    with no_convergence_warning():
        for clusters in ("bound", "heldout"):
            Crowdclustering.as_published(**quick, worker_prior="shared", n_clusters=clusters).fit(toy)


def _result(
    model: Crowdclustering, table: ResponseTable, start_traces: tuple[tuple[int, str, float, int], ...]
) -> FitResult:
    """The fitted attributes, without a summary; with one worker for all (consensus) every worker gets that one's."""
    one_for_all = len(model.answered_) == 1 and table.n_workers > 1

    def of_workers(array: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.repeat(array, table.n_workers, axis=0) if one_for_all else array

    answered = model.answered_
    if one_for_all:
        answered = np.bincount(table.worker_of_response, table.sizes > 1, minlength=table.n_workers) > 0
    scores = model.heldout_.workers if model.heldout_ else None
    return FitResult(
        positions=model.positions_,
        position_variances=model.position_variances_,
        weights=of_workers(model.weights_),
        weight_variances=of_workers(model.weight_variances_),
        biases=of_workers(model.biases_),
        bias_variances=of_workers(model.bias_variances_),
        responsibilities=model.responsibilities_,
        labels=model.labels_,
        shown=model.shown_,
        means=model.means_,
        covariances=model.covariances_,
        mixing=model.mixing_,
        bound=model.bound_,
        lower_bounds=model.lower_bounds_,
        start_bounds=model.start_bounds_,
        n_iterations=model.n_iterations_,
        converged=model.converged_,
        entropy_bits=model.entropy_bits_,
        fisher=model.fisher_,
        confusion=of_workers(model.confusion_),
        confusion_bound=of_workers(model.confusion_bound_),
        answered=answered,
        heldout_workers=None if scores is None else scores.loglik,
        heldout_figures=None if scores is None else np.column_stack(astuple(scores)),
        start_traces=start_traces,
        probability=model.probability_,
    )
