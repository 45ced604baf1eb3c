"""How good a clustering is, and simulated campaigns to try it on."""
