"""What can be chosen about a fit, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from crowdclust_app.domain.errors import InvalidInputError

WORKER_PRIORS = ("independent", "shared")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a fit depends on besides the responses.

    Parameters
    ----------
    dimensions
        `D` of the positions.
    starts
        How many starts: the first is spectral, the others random.
    clusters
        "bound": as many as the mixture's bound asks for; "heldout": as many as held-out responses ask for; or their
        number.
    label_weight
        `kappa` in (0, 1].
    worker_prior
        "independent": `s_w` and `s_tau` for every worker; "shared": learnt from all of them, starting there.
    weight_variance, bias_variance, position_variance
        Prior variances `s_w`, `s_tau`, `s_x`.
    concentration
        `alpha` of the Dirichlet process.
    mean_precision, scale, degrees_of_freedom
        `beta0`, `J0 / I`, `eta0` of the Normal-Wishart prior.
    layer_rounds
        Rounds of positions and workers before there is a mixture.
    max_iterations, tolerance
        The joint phase stops after so many iterations, or when the bound changes by less than this part of itself.
    folds
        Folds of held-out responses; 0 for none.
    consensus
        Whether all responses are given to one worker (Bayesian consensus).
    seed
        Seed of the random starts.
    """

    dimensions: int
    starts: int
    clusters: Literal["bound", "heldout"] | int
    label_weight: float
    worker_prior: Literal["independent", "shared"]
    weight_variance: float
    bias_variance: float
    position_variance: float
    concentration: float
    mean_precision: float
    scale: float
    degrees_of_freedom: float
    layer_rounds: int
    max_iterations: int
    tolerance: float
    folds: int
    consensus: bool
    seed: int

    def __post_init__(self) -> None:
        for name in ("dimensions", "starts", "layer_rounds", "max_iterations"):
            if not getattr(self, name) >= 1:
                raise InvalidInputError(f"{name.replace('_', ' ')} must be at least 1, not {getattr(self, name)}")
        for name in (
            "weight_variance",
            "bias_variance",
            "position_variance",
            "concentration",
            "mean_precision",
            "scale",
        ):
            value = getattr(self, name)
            if not 0 < value < float("inf"):
                raise InvalidInputError(f"the {name.replace('_', ' ')} must be a positive number, not {value}")
        if not 0 < self.label_weight <= 1:
            raise InvalidInputError(f"the label weight must be above 0 and at most 1, not {self.label_weight}")
        if not self.dimensions - 1 < self.degrees_of_freedom < float("inf"):
            raise InvalidInputError(
                f"the degrees of freedom must be above dimensions - 1, not {self.degrees_of_freedom}"
            )
        if not self.tolerance >= 0:
            raise InvalidInputError(f"the tolerance must not be negative, not {self.tolerance}")
        if self.worker_prior not in WORKER_PRIORS:
            raise InvalidInputError(
                f"the worker prior must be one of {', '.join(WORKER_PRIORS)}, not {self.worker_prior!r}"
            )
        if self.seed < 0:
            raise InvalidInputError(f"the seed must not be negative, not {self.seed}")
        wanted: object = self.clusters
        if wanted not in ("bound", "heldout") and not (isinstance(wanted, int) and wanted >= 1):
            raise InvalidInputError(
                f"clusters must be 'bound', 'heldout' or a number of at least 1, not {self.clusters!r}"
            )
        if self.folds != 0 and self.folds < 2:
            raise InvalidInputError(f"the folds must be 0, for none, or at least 2, not {self.folds}")
