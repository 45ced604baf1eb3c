"""Charts: points, lines, bars and ellipses on two axes, described at pointer and keyboard focus, saved with numbers."""
