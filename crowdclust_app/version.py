"""The version of this program; nothing else, so that whoever needs it imports nothing else."""

__version__ = "0.1.0"
