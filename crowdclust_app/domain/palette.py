"""Colours that groups and clusters have on screen and in files, so that a cluster is the same in both."""

OKABE_ITO = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")
"""Okabe and Ito's, which everybody can tell apart, without black, which vanishes in the dark."""
