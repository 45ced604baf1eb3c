"""The command line: the same services as the window, for scripts and servers."""

from crowdclust_app.cli.entry import main

__all__ = ["main"]
