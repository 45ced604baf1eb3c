"""`crowdclust bench`: the experiments of the papers, with every method on the same campaigns or labels."""

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
    from crowdclust_app.services.bench_report import BenchReport

# The names of EXPERIMENTS in services.benchmarks, label_benchmarks and expert_benchmarks, which cannot be imported:
# --help has to be quick.
OF_LABELS = ("sbic", "aggregators")
OF_EXPERTS = ("experts",)
GUI = "gui"
ABOUT_GUI = "how soon every screen is there on large campaigns, and how long the window ever answers nothing"
EXPERIMENTS = (
    "table1",
    "hard",
    "redundancy",
    "workers",
    "context",
    "calibration",
    "scale",
    *OF_LABELS,
    *OF_EXPERTS,
    GUI,
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Say what the command understands."""
    parser.add_argument("name", nargs="?", choices=EXPERIMENTS, metavar="NAME", help="one of "
                        f"{', '.join(EXPERIMENTS)}; all are listed without a name")  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="DIR", help="write tables (CSV) and plots (PNG) there")
    parser.add_argument("--methods", type=_names, default=(), metavar="a,b,...", help="compare these (the experiment's "
                        "own); workers and context try the first; for experts its parts")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the first seed (0)")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="how many seeds (3)")
    parser.add_argument(
        "--starts", type=int, default=4, metavar="N", help="starts of crowdclustering and consensus (4)"
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="known campaigns for table1: folders with "
                        "responses.csv and truth.csv; real sets for sbic and aggregators: folders with labels.csv and "
                        "truth.csv; for experts also folders with features.csv and truth.csv, and photos in "
                        "folders by category (the environment's CROWDCLUST_DATA)")  # fmt: skip
    parser.add_argument("--items", type=_numbers, default=(), metavar="N,...", help="for scale: items of the campaigns "
                        "(1000,3845,37794)")  # fmt: skip
    parser.add_argument("--dimensions", type=_numbers, default=(4,), metavar="D,...", help="for scale: of the fits (4)")
    parser.add_argument("--threads", type=int, metavar="N", help="for scale: how many threads share a fit (as many as "
                        "there are cores)")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="a small version that only shows that it works")


def bench(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust bench`."""
    from crowdclust_app.cli.fitting import write_summary, written_lines
    from crowdclust_app.services.benchmarks import EXPERIMENTS as ABOUT
    from crowdclust_app.services.expert_benchmarks import EXPERIMENTS as ABOUT_EXPERTS
    from crowdclust_app.services.label_benchmarks import EXPERIMENTS as ABOUT_LABELS

    if args.name is None:
        about = {**ABOUT, **ABOUT_LABELS, **ABOUT_EXPERTS, GUI: ABOUT_GUI}
        console.finish({"experiments": about}, aligned(list(about.items())))
        return 0
    benches = {GUI: _gui_bench, **dict.fromkeys(OF_LABELS, _label_bench), **dict.fromkeys(OF_EXPERTS, _expert_bench)}
    report = benches.get(args.name, _campaign_bench)(args, console, cancel)
    for warning in report.warnings:
        console.note(warning)
    written = list(report.written)
    if args.out:
        written.append(write_summary(args.out, plain(report.summary)))
    lines = _columns(report.header, report.rows)
    for name, header, rows in report.more:
        lines += ["", f"{name}:", *_columns(header, rows)]
    console.finish(report.summary, [*lines, *written_lines(written)])
    return 0


def _campaign_bench(args: Namespace, console: Console, cancel: CancelToken) -> BenchReport:
    from crowdclust_app.services.benchmarks import BenchSettings, run_bench

    settings = BenchSettings(
        name=args.name,
        methods=args.methods,
        seed=args.seed,
        seeds=args.seeds,
        starts=args.starts,
        quick=args.quick,
        data=args.data,
        items=args.items,
        dimensions=args.dimensions,
        threads=args.threads,
    )
    return run_bench(settings, args.out, console.progress, cancel)


def _label_bench(args: Namespace, console: Console, cancel: CancelToken) -> BenchReport:
    from crowdclust_app.services.label_benchmarks import LabelBenchSettings, run_label_bench

    settings = LabelBenchSettings(args.name, args.methods, args.seed, args.seeds, args.quick, args.data)
    return run_label_bench(settings, args.out, console.progress, cancel)


def _gui_bench(args: Namespace, console: Console, cancel: CancelToken) -> BenchReport:
    from crowdclust_app.gui.bench import run_gui_bench

    return run_gui_bench(args.out, args.quick, args.seed, console.progress, cancel)


def _expert_bench(args: Namespace, console: Console, cancel: CancelToken) -> BenchReport:
    from crowdclust_app.services.expert_benchmarks import ExpertBenchSettings, run_expert_bench

    settings = ExpertBenchSettings(args.methods, args.seed, args.seeds, args.quick, args.data)
    return run_expert_bench(settings, args.out, console.progress, cancel)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in _names(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no list of whole numbers") from None


def _columns(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Rows under their header, numbers to the right."""
    cells = [list(header), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(header))]
    text = [any(isinstance(row[column], str) for row in rows) for column in range(len(header))]
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
