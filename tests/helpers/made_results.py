"""Results of fits with arbitrary numbers, for tests of what is done with a result."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdclust_app.services.fits.results import FitResult

VERSIONS = {"crowdclust": "0.1.0", "numpy": np.__version__}


def result(seed: int, n: int = 12, j: int = 1, k: int = 3, d: int = 2) -> FitResult:
    """A result of the right shapes with arbitrary numbers."""
    generator = np.random.default_rng(seed)
    shapes = {
        "positions": (n, d),
        "position_variances": (n, d),
        "weights": (j, d, d),
        "weight_variances": (j, d, d),
        "biases": (j,),
        "bias_variances": (j,),
        "responsibilities": (n, k),
        "means": (k, d),
        "covariances": (k, d, d),
        "mixing": (k,),
        "fisher": (n, 2),
        "confusion": (j, k, k),
        "confusion_bound": (j, k, k),
    }
    arrays: dict[str, Any] = {name: generator.normal(size=shape) for name, shape in shapes.items()}
    for name in ("position_variances", "weight_variances", "bias_variances", "responsibilities", "mixing"):
        arrays[name] = np.abs(arrays[name])
    arrays["responsibilities"] /= arrays["responsibilities"].sum(axis=1, keepdims=True)
    arrays["covariances"] = np.tile(np.eye(d), (k, 1, 1))
    return FitResult(
        **arrays,
        labels=generator.integers(0, k + 1, n),
        shown=generator.random(n) > 0.5,
        answered=np.ones(j, dtype=bool),
        bound=-12.5,
        lower_bounds=(("layers", -20.25), ("joint", -12.5)),
        start_bounds=(-13.0, -12.5),
        n_iterations=7,
        converged=True,
        entropy_bits=0.25,
        summary={"seconds": 1.5, "clusters": 3, "verdicts": ["Fine."], "heldout_loglik": None},
    )
