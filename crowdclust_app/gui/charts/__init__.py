"""Charts: points, lines, bars and ellipses on two axes, told by pointer and keys, saved with their numbers."""
