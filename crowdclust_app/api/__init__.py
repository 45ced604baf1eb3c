"""What the Python API has beside the estimators: tables in and out, simulated data, plots."""
