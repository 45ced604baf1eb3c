"""`crowdclust aggregate`: one label a task out of several people's labels."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from crowdclust_app.cli.console import Console, aligned, counted
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.services.verify.aggregating import AggregateSettings, aggregate_file
from crowdclust_app.services.workers.pair_reliability import aggregate_pair_file, holds_pairs, refuse_for_pairs


def aggregate(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust aggregate`."""
    settings = AggregateSettings(
        method=args.method,
        prior=args.prior,
        prevalence=args.prevalence,
        ties=args.ties,
        repeats=args.repeats,
        classes=args.classes,
        seed=args.seed,
    )
    common = {"truth": args.truth, "out": args.out, "progress": console.progress, "cancel": cancel}
    common["columns"] = args.columns
    if holds_pairs(args.labels, args.columns):
        refuse_for_pairs(settings, args.features)
        report = aggregate_pair_file(args.labels, settings, **common)
    else:
        report = aggregate_file(args.labels, settings, features=args.features, **common)
    for warning in report.warnings:
        console.note(warning)
    written = ["", *(f"Wrote {path}" for path in report.written)] if report.written else []
    console.finish(report.summary, [*_text(report.summary), *written])
    return 0


def _text(summary: Mapping[str, Any]) -> list[str]:
    what = "Pairs" if "pairs_of_one_worker" in summary else "Tasks"
    rows = [
        (what, f"{summary['tasks']:,}"),
        ("Workers", f"{summary['workers']:,}"),
        ("Labels", f"{summary['labels']:,} in {counted(len(summary['classes']), 'class', 'classes')}"),
    ]
    if summary["dropped"]:
        rows.append(("Missing labels", f"{summary['dropped']:,}"))
    if summary.get("pairs_of_one_worker"):
        rows.append(("Pairs left out", f"{summary['pairs_of_one_worker']:,}, judged by one worker only"))
    without = summary["tasks_without_labels"]
    if without:
        shown = ", ".join(without[:5]) + (", ..." if len(without) > 5 else "")
        rows.append(("Tasks without labels", f"{len(without):,} ({shown})"))
    if summary.get("predicted"):
        rows.append(("Predicted", f"{counted(summary['predicted'], 'task')} that nobody labelled"))
    if summary["repeated"]:
        what = f"{summary['repeated']:,}, {counted(summary['conflicting'], 'conflict')}; counted: {summary['repeats']}"
        rows.append(("Repeated labels", what))
    for found in summary.get("priors", ()):
        coins = "one coin a worker" if found["coins"] == 1 else "a coin a class and worker"
        alpha, beta = found["prior"]
        gain = f"log evidence {found['bound'] - found['usual_bound']:+.1f} against 2,1"
        rows.append(("Prior by evidence", f"{alpha:.3g},{beta:.3g} for {coins}; {gain}"))
    scored = summary["methods"][0]["truth_tasks"]
    if scored is not None:
        rows.append(("Known labels", f"of {counted(scored, 'task')}"))
    notes = [f"{method['method']}: {note}." for method in summary["methods"] for note in method["notes"]]
    notes += _skipped(summary)
    return [*aligned(rows), "", *_table(summary), *([""] if notes else []), *notes]


def _skipped(summary: Mapping[str, Any]) -> list[str]:
    """One line a reason, however many methods it holds for."""
    names: dict[str, list[str]] = {}
    for skipped in summary["skipped"]:
        names.setdefault(skipped["reason"].removeprefix(f"{skipped['method']} "), []).append(skipped["method"])
    return [f"Skipped {', '.join(methods)}: {reason}" for reason, methods in names.items()]


def _table(summary: Mapping[str, Any]) -> list[str]:
    scored = summary["methods"][0]["truth_tasks"] is not None
    head = ("method", *(("error", "log loss", "Brier") if scored else ()), "ties", "seconds", "iterations", "converged")
    lines = [head]
    for method in summary["methods"]:
        figures = [_figure(method[name]) for name in ("error", "log_loss", "brier")] if scored else []
        rest = (f"{method['ties']:,}", f"{method['seconds']:.3f}", f"{method['iterations']:,}")
        lines.append((method["method"], *figures, *rest, "yes" if method["converged"] else "no"))
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
