"""Model selection by cross-validation over whole responses."""
