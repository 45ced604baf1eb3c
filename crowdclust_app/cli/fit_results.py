"""What `crowdclust fit` reads before a fit and says after it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crowdclust_app.cli.console import Console, aligned, counted
from crowdclust_app.cli.results import write_summary, written_lines
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.services.fits.results import FitResult, heldout_unit
from crowdclust_app.services.fits.sources import read_truth_source
from crowdclust_app.services.fits.summary import compare_with_truth


def truth_for(
    path: Path | None, table: ResponseTable, copies: Mapping[str, str] | None = None
) -> tuple[Mapping[str, str] | None, Sequence[str]]:
    """Read the truth before the fit, so that a wrong file does not cost its time."""
    if path is None or not table.n_responses:
        return None, ()

    source = read_truth_source(path, table, copies)
    return source.categories, source.warnings


def finish_fit(
    args: Namespace,
    console: Console,
    table: ResponseTable,
    result: FitResult,
    truth: Mapping[str, str] | None,
    warnings: Sequence[str],
    run: int | None = None,
    categories: Mapping[str, tuple[str | None, str | None]] | None = None,
) -> int:
    """Say what a fit found, and write its tables where `--out` is given; returns the exit code."""
    summary = {**result.summary, "run": run, "stage": args.stage}
    if truth is not None:
        summary |= compare_with_truth(table.item_names, result.labels, truth)
    summary["warnings"] = [*summary["warnings"], *warnings]
    for warning in warnings:
        console.note(warning)
    written: list[Path] = []
    if args.out:
        # a fit without --out needs nothing that writes tables
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
        rows.append((f"Held-out {heldout_unit(summary)}", f"{summary['heldout_loglik']:z.4f}{error} nats"))
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
