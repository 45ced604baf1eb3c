"""The commands about tables and figures: plan, simulate, fit."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdclust_app.cli.console import aligned, counted, plain
from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.services.campaign.responses import read_table

if TYPE_CHECKING:
    from crowdclust_app.cli.console import Console
    from crowdclust_app.domain.cancellation import CancelToken
    from crowdclust_app.domain.response_table import ResponseTable
    from crowdclust_app.services.fits.fitting import FitResult


def plan_settings(args: Namespace) -> PlanSettings:
    """What the plan options ask for."""
    return PlanSettings(args.items_per_hit, args.redundancy, args.workers_per_hit, args.seed)


def plan(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust plan`."""
    from crowdclust_app.services.campaign.planning import plan_items, plan_summary, write_plan

    made, figures = plan_items(args.items, plan_settings(args))
    cancel.check()
    summary = plan_summary(figures)
    written = write_plan(made, args.out, plain(summary)) if args.out else ()
    pairs = args.items * (args.items - 1) // 2
    text = aligned(
        [
            ("HITs", f"{figures.hits:,}"),
            ("Assignments", f"{figures.assignments:,} ({counted(args.workers_per_hit, 'worker')} a HIT)"),
            ("Pair labels", f"{figures.pair_labels:,}"),
            ("HITs an item is in", f"{figures.shown_min} to {figures.shown_max}, {figures.shown_mean:.2f} on average"),
            ("Pairs covered", f"{figures.pairs_covered:,} of {pairs:,} ({figures.pairs_covered / pairs:.1%})"),
            ("Design", "connected" if figures.components == 1 else f"{figures.components:,} separate parts"),
        ]
    )
    console.finish(summary, [*text, *figures.warnings, *written_lines(written)])
    return 0


def simulate(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust simulate`."""
    from crowdclust_app.services.exchange.simulated_tables import simulate as simulate_tables

    names = ("items", "clusters", "items_per_hit", "redundancy", "workers_per_hit", "workers", "noise", "coarse")
    settings = {name: getattr(args, name) for name in (*names, "random_workers", "seed")}
    summary = simulate_tables(args.out, **settings)
    cancel.check()
    written = [*map(Path, summary["files"]), write_summary(args.out, summary)]
    text = aligned(
        [
            ("Items", f"{summary['items']:,} in {counted(summary['clusters'], 'cluster')}"),
            ("Workers", f"{summary['workers']:,}, {args.random_workers:,} of them at random"),
            ("Responses", f"{summary['responses']:,} to {counted(summary['hits'], 'HIT')}"),
            ("Pair labels", f"{summary['pair_labels']:,}"),
        ]
    )
    console.finish(summary, [*text, *written_lines(written)])
    return 0


def fit(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust fit`."""
    from crowdclust_app.services.fits.sources import is_campaign

    settings = FitSettings.from_dict(vars(args))
    if is_campaign(args.source):
        return _fit_campaign(args, settings, console, cancel)
    return _fit_table(args, settings, console, cancel)


def _fit_table(args: Namespace, settings: FitSettings, console: Console, cancel: CancelToken) -> int:
    from crowdclust_app.services.fits.fitting import fit_table
    from crowdclust_app.services.fits.sources import read_table_source

    source = read_table_source(args.source, args.stage)
    truth, warnings = _truth(args.truth, source.table)
    with _results_folder(args.out):
        result = fit_table(source.table, settings, console.progress, cancel, args.threads)
        return _finish_fit(args, console, source.table, result, truth, [*source.warnings, *warnings])


def _fit_campaign(args: Namespace, settings: FitSettings, console: Console, cancel: CancelToken) -> int:
    from crowdclust_app.services.campaign.campaigns import Campaign
    from crowdclust_app.services.clusters.categories import category_columns
    from crowdclust_app.services.fits.fitting import fit_campaign
    from crowdclust_app.services.fits.run_store import NotStoredError
    from crowdclust_app.services.stages.stages import find_stage, stay_behind

    with Campaign.open_somehow(args.source) as campaign:
        find_stage(campaign, args.stage)
        table = read_table(campaign, args.stage)
        truth, warnings = _truth(args.truth, table)
        with _results_folder(args.out):
            try:
                run = fit_campaign(campaign, settings, console.progress, cancel, args.stage, args.threads)
                warnings = [*warnings, *stay_behind(campaign, run)]
                result, number = run.result, run.number
                called = category_columns(campaign, run)
            except NotStoredError as error:
                kept = f"its tables are in {args.out}" if args.out else "--out DIR would keep its tables"
                lost = f"{error.where}: the campaign cannot be written here, so this run is not stored in it; {kept}."
                result, number, warnings, called = error.result, None, [*warnings, lost], {}
            return _finish_fit(args, console, table, result, truth, warnings, run=number, categories=called)


def _results_folder(out: Path | None) -> AbstractContextManager[object]:
    """Have the folder before the fit: one that cannot be written must not cost the fit's time."""
    from crowdclust_app.services.exchange.result_folders import folder_for

    return folder_for(out) if out else nullcontext()


def _truth(path: Path | None, table: ResponseTable) -> tuple[Mapping[str, str] | None, Sequence[str]]:
    """Read the truth before the fit, so that a wrong file does not cost its time."""
    if path is None or not table.n_responses:
        return None, ()
    from crowdclust_app.services.fits.sources import read_truth_source

    source = read_truth_source(path, table)
    return source.categories, source.warnings


def _finish_fit(
    args: Namespace,
    console: Console,
    table: ResponseTable,
    result: FitResult,
    truth: Mapping[str, str] | None,
    warnings: Sequence[str],
    run: int | None = None,
    categories: Mapping[str, tuple[str | None, str | None]] | None = None,
) -> int:
    from crowdclust_app.services.fits.fitting import compare_with_truth

    summary = {**result.summary, "run": run, "stage": args.stage}
    if truth is not None:
        summary |= compare_with_truth(table.item_names, result.labels, truth)
    summary["warnings"] = list(warnings)
    for warning in warnings:
        console.note(warning)
    written: list[Path] = []
    if args.out:
        from crowdclust_app.services.exchange.exporting import export_result

        written.extend(export_result(result, table, args.out, categories=categories, stage=args.stage))
        written.append(write_summary(args.out, summary))
    console.finish(summary, [*_fit_text(summary), *written_lines(written)])
    return 0


def _fit_text(summary: Mapping[str, Any]) -> list[str]:
    sizes = ", ".join(f"{size:,}" for size in summary["cluster_sizes"])
    rows = [
        ("Method", summary["method"]),
        ("Responses", f"{summary['responses']:,} by {counted(summary['workers'], 'worker')}"),
        ("Items", f"{summary['items']:,}"),
        ("Pair labels", f"{summary['pair_labels']:,}"),
        ("Clusters", f"{summary['clusters']:,} (sizes {sizes})"),
    ]
    if summary["bound"] is not None:
        rows += [("Bound", f"{summary['bound']:,.2f}"), ("Entropy", f"{summary['entropy_bits']:.4f} bits")]
    if summary["heldout_loglik"] is not None:
        error = "" if summary["heldout_se"] is None else f" ± {summary['heldout_se']:.4f}"
        rows.append(("Held-out label", f"{summary['heldout_loglik']:z.4f}{error} nats"))
    if "vi_nats" in summary:
        left_out = f", {summary['truth_ignored']:,} left out" if summary["truth_ignored"] else ""
        rows += [
            ("Known categories", f"of {counted(summary['truth_items'], 'item')}{left_out}"),
            ("Variation of inf.", f"{summary['vi_nats']:.4f} nats ({summary['vi_bits']:.4f} bits)"),
            ("Adjusted Rand", f"{summary['ari']:.4f}"),
            ("Normalised MI", f"{summary['nmi']:.4f}"),
        ]
    if summary["run"] is not None:
        rows.append(("Stored as run", f"{summary['run']}"))
    memory = "" if summary["peak_memory_mb"] is None else f", {summary['peak_memory_mb']:,.0f} MB at most"
    rows.append(("Took", f"{summary['seconds']:.1f} s{memory}"))
    return [*aligned(rows), "", *summary["verdicts"]]


def write_summary(folder: Path, summary: Mapping[str, Any]) -> Path:
    """Write every figure that is printed beside the tables."""
    from crowdclust_app.services.exchange import result_folders

    return result_folders.write_summary(folder, plain(summary))


def written_lines(paths: Sequence[Path]) -> list[str]:
    """Name the files that were written, after an empty line."""
    return ["", *(f"Wrote {path}" for path in paths)] if paths else []
