"""`crowdclust aggregate`: one label a task out of several people's labels."""

from __future__ import annotations

import argparse
import csv
import math
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdclust_app.cli.console import aligned, counted
from crowdclust_app.domain.methods import names_of

if TYPE_CHECKING:
    from crowdclust_app.cli.console import Console
    from crowdclust_app.domain.cancellation import CancelToken


def add_options(parser: argparse.ArgumentParser) -> None:
    """Say what the command understands."""
    methods = names_of("aggregator", "learner")
    parser.add_argument("labels", type=Path, metavar="labels.csv", help="the table: task,worker,label; or "
                        "a table of pairs: worker,item_a,item_b,label")  # fmt: skip
    parser.add_argument(
        "--method",
        choices=(*methods, "all"),
        default="dawid-skene",
        metavar="NAME|all",
        help=f"one of {', '.join(methods)}; or all that the labels allow (dawid-skene)",
    )
    parser.add_argument("--prior", type=_prior, metavar="A,B", help="Beta prior on how often a worker is right (2,1; "
                        "2,2 for experts, 3,2 for gp)")  # fmt: skip
    parser.add_argument("--prevalence", type=_prevalence, metavar="auto|q", help="probability of the second class, or "
                        "auto to estimate it (auto for dawid-skene and ordinal, 0.5 for the others)")  # fmt: skip
    parser.add_argument("--features", type=Path, metavar="features.csv", help="learn from the tasks' features too "
                        "(experts, gp): the task in the first column, a number in every other; tasks that nobody "
                        "labelled are predicted")  # fmt: skip
    parser.add_argument("--ties", choices=("undecided", "random", "prior"), default="undecided", help="what equally "
                        "probable classes are resolved by (undecided)")  # fmt: skip
    parser.add_argument("--repeats", choices=("first", "last", "all", "refuse"), default="all", help="which labels "
                        "count when a worker labelled a task more than once (all)")  # fmt: skip
    parser.add_argument(
        "--classes", type=_classes, metavar="a,b,...", help="every class in its order (those that occur)"
    )
    parser.add_argument("--truth", type=Path, metavar="truth.csv", help="compare with known labels: task,label "
                        "(for pairs item,category)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of everything random (0)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the tables and summary.json there")


def aggregate(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust aggregate`."""
    from crowdclust_app.services.verify.aggregating import AggregateSettings, aggregate_file
    from crowdclust_app.services.workers.pair_reliability import aggregate_pair_file, holds_pairs, refuse_for_pairs

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
    if holds_pairs(args.labels):
        refuse_for_pairs(settings, args.features)
        report = aggregate_pair_file(args.labels, settings, **common)
    else:
        report = aggregate_file(args.labels, settings, features=args.features, **common)
    for warning in report.warnings:
        console.note(warning)
    written = ["", *(f"Wrote {path}" for path in report.written)] if report.written else []
    console.finish(report.summary, [*_text(report.summary), *written])
    return 0


def _prior(text: str) -> tuple[float, float]:
    try:
        alpha, beta = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not two numbers such as 2,1") from None
    if not (0 < alpha < math.inf and 0 < beta < math.inf):
        raise argparse.ArgumentTypeError(f"{text} is not two numbers above 0")
    return alpha, beta


def _prevalence(text: str) -> str | float:
    if text in ("auto", "even"):
        return text
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"{text} is neither auto nor a number between 0 and 1")
    return share


def _classes(text: str) -> tuple[str, ...]:
    # a name with a comma goes between quotes, as in the table
    (names,) = csv.reader([text])
    return tuple(name.strip() for name in names)


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
