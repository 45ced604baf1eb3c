"""The model of the paper: variational posterior, lower bound, the phases of a fit, the estimator."""
