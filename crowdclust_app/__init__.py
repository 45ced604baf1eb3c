"""Crowdclust: which categories an image collection falls into, from many people's partial groupings."""

__version__ = "0.1.0"
