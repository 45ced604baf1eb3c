"""`crowdclust bench`: the experiments of the paper, with every method on the same campaigns."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdclust_app.cli.console import aligned, plain

if TYPE_CHECKING:
    from crowdclust_app.cli.console import Console
    from crowdclust_app.domain.cancellation import CancelToken

# The names of services.benchmarks.EXPERIMENTS, which cannot be imported here: --help has to be quick.
EXPERIMENTS = ("table1", "hard", "redundancy", "workers", "context", "scale")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Say what the command understands."""
    parser.add_argument("name", nargs="?", choices=EXPERIMENTS, metavar="NAME", help="one of "
                        f"{', '.join(EXPERIMENTS)}; all are listed without a name")  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="DIR", help="write tables (CSV) and plots (PNG) there")
    parser.add_argument("--methods", type=_names, default=(), metavar="a,b,...", help="compare these (the experiment's "
                        "own); workers and context try the first")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the first seed (0)")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="how many seeds (3)")
    parser.add_argument(
        "--starts", type=int, default=4, metavar="N", help="starts of crowdclustering and consensus (4)"
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="known campaigns for table1: folders with "
                        "responses.csv and truth.csv")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="a small version that only shows that it works")


def bench(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust bench`."""
    from crowdclust_app.cli.fitting import write_summary, written_lines
    from crowdclust_app.services.benchmarks import EXPERIMENTS as ABOUT
    from crowdclust_app.services.benchmarks import BenchSettings, run_bench

    if args.name is None:
        console.finish({"experiments": dict(ABOUT)}, aligned([(name, text) for name, text in ABOUT.items()]))
        return 0
    settings = BenchSettings(
        name=args.name,
        methods=args.methods,
        seed=args.seed,
        seeds=args.seeds,
        starts=args.starts,
        quick=args.quick,
        data=args.data,
    )
    report = run_bench(settings, args.out, console.progress, cancel)
    for warning in report.warnings:
        console.note(warning)
    written = list(report.written)
    if args.out:
        written.append(write_summary(args.out, plain(report.summary)))
    console.finish(report.summary, [*_columns(report.header, report.rows), *written_lines(written)])
    return 0


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _columns(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Rows under their header, numbers to the right."""
    cells = [list(header), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(header))]
    text = [isinstance(value, str) for value in rows[0]] if rows else [True] * len(header)
    return [
        "  ".join(
            f"{cell:<{width}}" if is_text else f"{cell:>{width}}"
            for cell, width, is_text in zip(line, widths, text, strict=True)
        ).rstrip()
        for line in cells
    ]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
