"""Writing of files for the command line, which does not touch `io` itself."""

from crowdclust_app.io.atomic import make_folder, write_json

__all__ = ["make_folder", "write_json"]
