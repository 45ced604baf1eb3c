"""The Gaussian process's covariance: how alike two items' features are (docs/experts.md, section 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdclust_app.inference.aggregators.label_table import Floats

# Items among which the usual distance is taken.
_SAMPLE = 500


@dataclass(frozen=True, slots=True)
class Kernel:
    """`k(x, x') = amplitude^2 exp(-|x - x'|^2 / (2 length_scale^2)) + intercept^2`, beside white noise of variance 1.

    Parameters
    ----------
    amplitude
        How sharply classes are told apart, in units of the noise.
    length_scale
        Distance over which items are alike, in units of the features.
    intercept
        Spread of what all items share; 0 for none.
    """

    amplitude: float
    length_scale: float
    intercept: float = 0.0

    @property
    def variance(self) -> float:
        """`k(x, x)`."""
        return self.amplitude**2 + self.intercept**2

    def of_distances(self, squared: Floats) -> Floats:
        """Covariances at these squared distances; same shape."""
        found = squared * (-0.5 / self.length_scale**2)
        np.exp(found, out=found)
        found *= self.amplitude**2
        if self.intercept:
            found += self.intercept**2
        return found

    def between(self, X: Floats, Z: Floats) -> Floats:
        """Covariances of items with features `X` (n, D) and `Z` (m, D); shape (n, m)."""
        return self.of_distances(squared_distances(X, Z))


def squared_distances(X: Floats, Z: Floats) -> Floats:
    """Give `|x - z|^2` of all pairs; shape (n, m), never below 0 and exactly 0 for `X is Z` on the diagonal."""
    centre = Z.mean(axis=0) if len(Z) else 0.0
    same = X is Z
    X = X - centre
    Z = X if same else Z - centre
    found = X @ Z.T
    found *= -2.0
    found += np.einsum("ij,ij->i", X, X)[:, None]
    found += np.einsum("ij,ij->i", Z, Z)[None, :]
    np.maximum(found, 0.0, out=found)
    if same:
        np.fill_diagonal(found, 0.0)
    return found


def usual_distance(X: Floats, rng: np.random.Generator) -> float:
    """Median distance of different items among 500 random ones; 1 when all are the same."""
    chosen = X if len(X) <= _SAMPLE else X[rng.choice(len(X), _SAMPLE, replace=False)]
    squared = squared_distances(chosen, chosen)[np.triu_indices(len(chosen), 1)]
    # rounding makes a distance of what is the same
    least = 1e-12 * float(np.square(chosen - chosen.mean(axis=0)).sum(axis=1).max()) if len(chosen) else 0.0
    apart = squared[squared > least]
    return float(np.sqrt(np.median(apart))) if len(apart) else 1.0


def log_gradients(kernel: Kernel, squared: Floats) -> list[Floats]:
    """Derivatives of the covariances by `log amplitude`, `log length_scale` and, if there is one, `log intercept`."""
    smooth = np.exp(squared * (-0.5 / kernel.length_scale**2)) * kernel.amplitude**2
    found = [2.0 * smooth, smooth * squared / kernel.length_scale**2]
    if kernel.intercept:
        found.append(np.full_like(squared, 2.0 * kernel.intercept**2))
    return found
