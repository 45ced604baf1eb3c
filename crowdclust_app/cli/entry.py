"""Where `crowdclust` begins and ends: arguments in, one exit code out."""

from __future__ import annotations

from collections.abc import Sequence

from crowdclust_app.cli.parser import build_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv
        The arguments without the program's name; those of the process when None.

    Returns
    -------
    int
        0 done; 2 something the user can mend; 1 a fault of ours; 130 interrupted.
    """
    try:
        build_parser().parse_args(argv)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 2
    return 0
