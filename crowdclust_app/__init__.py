"""Crowdclust: which categories an image collection falls into, from many people's partial groupings."""

from crowdclust_app.version import __version__

__all__ = ["__version__"]
