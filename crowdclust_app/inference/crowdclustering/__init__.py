"""Bayesian crowdclustering (Gomes, Welinder, Krause and Perona 2011)."""
