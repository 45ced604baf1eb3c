"""What the command line understands, as argparse parsers; nothing here imports more than the standard library."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from crowdclust_app import __version__

DESCRIPTION = "Find out which categories an image collection falls into, from many people's partial groupings."


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Print one line to stderr and leave with 2."""
        sys.stderr.write(f"{self.prog}: {message}; see {self.prog} --help.\n")
        raise SystemExit(2)


def build_parser() -> Parser:
    """Build the parser of `crowdclust`."""
    parser = Parser(prog="crowdclust", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"crowdclust {__version__}")
    return parser
