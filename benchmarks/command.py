"""`./run bench`: the experiments of the papers, with every method on the same campaigns or labels."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import battery, campaign_benchmarks, expert_benchmarks, label_benchmarks
from benchmarks.report import BenchReport
from crowdclust_app.cli.console import Console, aligned, plain
from crowdclust_app.cli.entry import run_program
from crowdclust_app.cli.parser import Parser, add_output_options
from crowdclust_app.cli.results import write_summary, written_lines
from crowdclust_app.domain.cancellation import CancelToken

GUI = "gui"
BATTERY = "battery"
EXPERIMENTS = {
    **campaign_benchmarks.EXPERIMENTS,
    **label_benchmarks.EXPERIMENTS,
    **expert_benchmarks.EXPERIMENTS,
    BATTERY: battery.ABOUT,
    GUI: "how soon every screen is there on large campaigns, and how long the window ever answers nothing",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one experiment; exit codes and streams are those of `crowdclust`.

    Parameters
    ----------
    argv
        The arguments without the program's name; those of the process when None.
    """
    parser = Parser(prog="./run bench", description="Run the papers' experiments with every method.")
    add_options(parser)
    add_output_options(parser)
    return run_program(parser, bench, argv)


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
    """Run the experiment that was named, or list them all."""
    if args.name is None:
        console.finish({"experiments": EXPERIMENTS}, aligned(list(EXPERIMENTS.items())))
        return 0
    report = _runner(args.name)(args, console, cancel)
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


def _runner(name: str) -> Callable[[Namespace, Console, CancelToken], BenchReport]:
    if name in (GUI, BATTERY):
        return _gui_bench if name == GUI else _battery
    if name in label_benchmarks.EXPERIMENTS:
        return _label_bench
    return _expert_bench if name in expert_benchmarks.EXPERIMENTS else _campaign_bench


def _battery(args: Namespace, console: Console, cancel: CancelToken) -> BenchReport:
    return battery.run_battery(args.out, args.methods, args.seeds, args.quick, console.progress, cancel)


def _campaign_bench(args: Namespace, console: Console, cancel: CancelToken) -> BenchReport:
    settings = campaign_benchmarks.BenchSettings(
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
    return campaign_benchmarks.run_bench(settings, args.out, console.progress, cancel)


def _label_bench(args: Namespace, console: Console, cancel: CancelToken) -> BenchReport:
    settings = label_benchmarks.LabelBenchSettings(
        args.name, args.methods, args.seed, args.seeds, args.quick, args.data
    )
    return label_benchmarks.run_label_bench(settings, args.out, console.progress, cancel)


def _gui_bench(args: Namespace, console: Console, cancel: CancelToken) -> BenchReport:
    from benchmarks.window_benchmark import run_gui_bench  # the only one that needs Qt

    return run_gui_bench(args.out, args.quick, args.seed, console.progress, cancel)


def _expert_bench(args: Namespace, console: Console, cancel: CancelToken) -> BenchReport:
    settings = expert_benchmarks.ExpertBenchSettings(args.methods, args.seed, args.seeds, args.quick, args.data)
    return expert_benchmarks.run_expert_bench(settings, args.out, console.progress, cancel)


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
