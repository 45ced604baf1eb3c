"""What the command line understands, as argparse parsers; nothing here imports what takes long to import."""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from crowdclust_app.version import __version__

if TYPE_CHECKING:
    from crowdclust_app.domain.fit_settings import Setting

DESCRIPTION = "Find out which categories an image collection falls into, from many people's partial groupings."
EPILOG = "Without a command the window opens. Exit codes: 0 done, 2 for you to mend, 1 our fault, 130 interrupted."


_RENAMABLE = (
    "hit", "worker", "item", "group", "task", "label", "category", "item_a", "item_b", "order", "question", "stage",
    "started_at", "submitted_at", "active_seconds", "group_name", "comment",
)  # fmt: skip


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Print one line to stderr and leave with 2."""
        # sys.stderr is None in a program without a console
        if sys.stderr is not None:
            sys.stderr.write(f"{self.prog}: {' '.join(message.split())}; see {self.prog} --help.\n")
        raise SystemExit(2)


class CommandParser(Parser):
    """The parser of one command, which gets its options when they are asked for.

    Parameters
    ----------
    add_options
        Adds them; what it imports is not loaded by `crowdclust --help`.
    """

    def __init__(self, *, add_options: Callable[[Parser], None], **settings: Any) -> None:
        super().__init__(**settings)
        self._add_options: Callable[[Parser], None] | None = add_options

    def complete(self) -> None:
        """Add the options, once."""
        if self._add_options is not None:
            add, self._add_options = self._add_options, None
            add_output_options(self)
            add(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read the arguments of the command."""
        self.complete()
        return super().parse_known_args(args, namespace)

    def format_help(self) -> str:
        """Describe every option."""
        self.complete()
        return super().format_help()


def build_parser() -> Parser:
    """Build the parser of `crowdclust`."""
    parser = Parser(prog="crowdclust", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"crowdclust {__version__}")
    parser.set_defaults(command=None, json=False, quiet=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", parser_class=CommandParser)
    for name, (text, add_options) in _COMMANDS.items():
        description = text[0].upper() + text[1:] + "."
        # no abbreviations: an option that is added later must not change what a script means
        commands.add_parser(name, help=text, description=description, allow_abbrev=False, add_options=add_options)
    return parser


def add_output_options(parser: Parser) -> None:
    """Add what every command understands."""
    parser.add_argument("--json", action="store_true", help="print the summary alone, as JSON")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors (and the summary with --json)")


def _plan_options(parser: Parser) -> None:
    parser.add_argument("--items-per-hit", type=int, default=36, metavar="M", help="items shown together (36)")
    parser.add_argument("--redundancy", type=int, default=6, metavar="V", help="HITs an item is in, on average (6)")
    parser.add_argument("--workers-per-hit", type=int, default=5, metavar="R", help="workers who do each HIT (5)")
    _seed(parser)


def _seed(parser: Parser) -> None:
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of everything random (0)")


def _campaign(parser: Parser, text: str) -> None:
    parser.add_argument("campaign", type=Path, metavar="CAMPAIGN", help=text)


def _open(parser: Parser) -> None:
    _campaign(parser, "the .crowdclust file")


def _demo(parser: Parser) -> None:
    parser.add_argument("--no-window", action="store_true", help="write the tables and screenshots instead")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where everything goes (./crowdclust-demo)")


def _new(parser: Parser) -> None:
    _campaign(parser, "the .crowdclust file to make")
    parser.add_argument("--images", type=Path, required=True, metavar="DIR", help="the folder, with all its folders")
    _plan_options(parser)


def _plan(parser: Parser) -> None:
    parser.add_argument("--items", type=int, required=True, metavar="N", help="number of items")
    _plan_options(parser)
    parser.add_argument("--out", type=Path, metavar="plan.csv", help="write the plan there")


def _import(parser: Parser) -> None:
    _campaign(parser, "the .crowdclust file")
    parser.add_argument("file", type=Path, metavar="FILE.csv", help="the table")
    parser.add_argument("--kind", choices=("responses", "pairs", "labels", "truth"), default="responses",
                        help="(responses); labels are answers to the yes/no questions of a question set")  # fmt: skip
    _columns(parser)
    parser.add_argument("--question", metavar="TEXT", help="what was asked of the tasks of a table of labels, which go "
                        "into the question set of this sentence (Labels of FILE.csv)")  # fmt: skip


def _columns(parser: Parser) -> None:
    parser.add_argument("--columns", type=_renamed, metavar="OURS=THEIRS,...", help="what the table calls its columns, "
                        "such as item=card,worker=user; item=card,worker=* for one row a card and one column a person "
                        "(layouts of other programs are recognised without it)")  # fmt: skip


def _renamed(text: str) -> dict[str, str]:
    (parts,) = csv.reader([text])
    pairs = [part.partition("=") for part in parts]
    if not all(ours.strip() and theirs.strip() for ours, _, theirs in pairs):
        raise argparse.ArgumentTypeError(f"{text} is not such as item=card,worker=user")
    renamed = {ours.strip().lower(): theirs.strip() for ours, _, theirs in pairs}
    strange = next((name for name in renamed if name not in _RENAMABLE), None)
    if strange is not None:
        raise argparse.ArgumentTypeError(f"no table has a column {strange}; there are {', '.join(_RENAMABLE)}")
    return renamed


def _fit(parser: Parser) -> None:
    # the help of the program lists no settings
    from crowdclust_app.domain.fit_settings import SETTINGS, FitSettings

    parser.add_argument("source", type=Path, metavar="SOURCE", help="a campaign, or a responses.csv with the columns "
                        "hit,worker,item,group; the hit names what was sorted together, and is not needed where "
                        "everybody sorted everything")  # fmt: skip
    parser.add_argument("--stage", default="all", metavar="S", help="whose responses: all, or a subdivided cluster "
                        "such as all/1 (all)")  # fmt: skip
    _columns(parser)
    for name, setting in SETTINGS.items():
        if not setting.expert:
            _add_setting(parser, setting, getattr(FitSettings(), name))
    parser.add_argument("--threads", type=int, metavar="N", help="how many threads or processes share the work; the "
                        "result does not depend on it (as many as there are cores)")  # fmt: skip
    parser.add_argument("--truth", type=Path, metavar="truth.csv", help="compare with known categories")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the tables and summary.json there")


def _split(parser: Parser) -> None:
    _campaign(parser, "the .crowdclust file")
    parser.add_argument("--stage", default="all", metavar="S", help="the stage whose run found the cluster (all)")
    parser.add_argument("--cluster", type=int, required=True, metavar="K", help="number of the cluster")
    parser.add_argument("--run", type=int, metavar="N", help="the run that found it (the newest of the stage)")
    about = {
        "--items-per-hit": ("M", "items shown together (as above, at most the cluster's)"),
        "--redundancy": ("V", "HITs an item is in, on average (as above)"),
        "--workers-per-hit": ("R", "workers who do each HIT (as above)"),
        "--seed": ("S", "seed of everything random (as above)"),
    }
    for option, (metavar, text) in about.items():
        parser.add_argument(option, type=int, metavar=metavar, help=text)


def _aggregate(parser: Parser) -> None:
    # the help of the program lists no methods
    from crowdclust_app.domain.methods import names_of

    methods = names_of("aggregator", "learner")
    parser.add_argument("labels", type=Path, metavar="labels.csv", help="the table: task,worker,label; or "
                        "a table of pairs: worker,item_a,item_b,label")  # fmt: skip
    _columns(parser)
    parser.add_argument(
        "--method",
        choices=(*methods, "all"),
        default="dawid-skene",
        metavar="NAME|all",
        help=f"one of {', '.join(methods)}; or all that the labels allow (dawid-skene)",
    )
    parser.add_argument("--prior", type=_prior, metavar="A,B|auto|discrete:P,...", help="Beta prior on "
                        "how often a worker is right (2,1; 4,1 for ebcc, 2,2 for experts, 3,2 for gp); auto chooses "
                        "one by evidence; discrete:0.5,0.9 is of workers who are right so often, in equal shares or "
                        "those given (discrete:0.5=0.2,0.9=0.8), for bp")  # fmt: skip
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


def _prior(text: str) -> tuple[float, float] | dict[float, float] | str:
    if text == "auto":
        return "auto"
    if text.startswith("discrete:"):
        return _discrete(text)
    try:
        alpha, beta = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not two numbers such as 2,1") from None
    if not (0 < alpha < math.inf and 0 < beta < math.inf):
        raise argparse.ArgumentTypeError(f"{text} is not two numbers above 0")
    return alpha, beta


def _discrete(text: str) -> dict[float, float]:
    """A discrete prior: accuracies in equal shares, or each with its share."""
    parts = [part.split("=") for part in text.removeprefix("discrete:").split(",")]
    try:
        points = [float(part[0]) for part in parts]
        shares = [1.0 / len(parts)] * len(parts) if all(len(part) == 1 for part in parts) else [
            float(share) for _, share in parts
        ]  # fmt: skip
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text} is not a list of accuracies such as discrete:0.5,0.9 or discrete:0.5=0.2,0.9=0.8"
        ) from None
    if not all(0 <= point <= 1 for point in points) or len(set(points)) < len(points):
        raise argparse.ArgumentTypeError(f"{text} has an accuracy twice, or one that is not between 0 and 1")
    if not all(share >= 0 for share in shares) or not math.isclose(sum(shares), 1.0, abs_tol=1e-9):
        raise argparse.ArgumentTypeError(f"the shares in {text} do not sum to 1")
    return dict(zip(points, shares, strict=True))


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


def _add_setting(parser: Parser, setting: Setting, default: str | float) -> None:
    """Add the option of one setting of a fit."""
    values: dict[str, Any] = {"choices": tuple(setting.words)}
    if setting.low is not None:
        values = {"type": _word_or_number(setting)}
    parser.add_argument(
        f"--{setting.key.replace('_', '-')}",
        default=default,
        metavar=setting.metavar,
        help=f"{setting.about} ({default})",
        **values,
    )


def _word_or_number(setting: Setting) -> Callable[[str], str | float]:
    number = float if setting.step < 1 else int

    def read(text: str) -> str | float:
        if text in setting.words:
            return text
        try:
            return number(text)
        except ValueError:
            kind = "a number" if number is float else "a whole number"
            known = f"neither {' nor '.join(sorted(setting.words))} nor {kind}" if setting.words else f"not {kind}"
            raise argparse.ArgumentTypeError(f"{text} is {known}") from None

    return read


def _simulate(parser: Parser) -> None:
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the tables go")
    parser.add_argument("--items", type=int, default=1000, metavar="N", help="number of items (1000)")
    parser.add_argument("--clusters", type=int, default=10, metavar="K", help="true categories (10)")
    _plan_options(parser)
    parser.add_argument("--workers", type=int, default=130, metavar="J", help="number of workers (130)")
    parser.add_argument("--noise", type=float, default=0.03, help="share of stray placements (0.03)")
    parser.add_argument("--coarse", type=float, default=0.35, help="share of similar categories a worker takes for "
                        "one (0.35)")  # fmt: skip
    parser.add_argument("--random-workers", type=int, default=0, metavar="N", help="how many sort at random (0)")


def _export(parser: Parser) -> None:
    _campaign(parser, "the .crowdclust file")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the tables go")
    parser.add_argument("--anonymous", action="store_true", help="write workers as numbers")
    parser.add_argument(
        "--with",
        dest="parts",
        action="append",
        default=[],
        choices=("report", "plots", "photos", "links", "label-studio", "fiftyone", "reproduction"),
        help="write this too (may be given more than once): a report for a browser, plots, photos copied or linked "
        "into a folder a category, lists for other programs, what reproduces the run",
    )
    parser.add_argument("--allow-missing-photos", action="store_true", help="exit with 0 although photos were not "
                        "found; they are named and left out either way")  # fmt: skip


def _check(parser: Parser) -> None:
    _campaign(parser, "the .crowdclust file")


def _backup(parser: Parser) -> None:
    _campaign(parser, "the .crowdclust file")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the copy (beside the campaign, with the date)")


_COMMANDS: dict[str, tuple[str, Callable[[Parser], None]]] = {
    "open": ("open the window on a campaign", _open),
    "demo": ("draw images, simulate workers, fit, and open the window on the result", _demo),
    "new": ("make a campaign from a folder of images", _new),
    "plan": ("plan which items are shown together, and say what that amounts to", _plan),
    "import": ("bring responses, pairs, yes/no labels or known categories into a campaign", _import),
    "fit": ("infer the clusters behind the responses", _fit),
    "split": ("subdivide a cluster: its items get a plan and HITs of their own", _split),
    "aggregate": ("infer one label a task from several people's labels", _aggregate),
    "simulate": ("write the tables of a simulated campaign whose answer is known", _simulate),
    "export": ("write every table of a campaign that has rows", _export),
    "check": ("see whether a campaign file is sound", _check),
    "backup": ("copy a campaign, whole, whoever works on it", _backup),
}
