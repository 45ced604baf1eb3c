"""Compiled sums over pair labels; what the model and the partitions are computed with."""
