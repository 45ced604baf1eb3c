"""What decides a fit, checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from crowdclust_app.domain.campaign import LARGEST_NUMBER
from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.fits.baselines import BASELINES

METHODS = ("crowdclustering", "consensus", *BASELINES)

WORKER_PRIORS = ("independent", "shared")

MOST_AUTO_DIMENSIONS = 6
"""The most that `dimensions="auto"` may choose."""


@dataclass(frozen=True, slots=True)
class FitSettings:
    """Everything that decides a fit, besides the data.

    Parameters
    ----------
    method
        `crowdclustering`; `consensus`: the same model with every response given to one worker; or one of `BASELINES`.
    dimensions
        `D` of the embedding; `"auto"`: what predicts held-out responses best of a small set.
    starts
        How many starts are tried; the one with the highest bound is kept.
    clusters
        `"heldout"`: as many as predict held-out responses well; `"bound"`: as many as the bound favours; or a number.
    label_weight
        How much each pair label counts, in (0, 1]; 1 is the paper's model; `"auto"`: what predicts held-out responses
        best of a small set.
    worker_prior
        `"shared"`: learnt from all workers; `"independent"`: the paper's, the same for every worker.
    folds
        In how many folds responses are held out to see how well the rest predicts them; 0 leaves that out.
    bootstrap
        How many times the responses are drawn anew to see which clusters are found again; 0 leaves that out.
    seed
        Seed of everything random.
    weight_variance, bias_variance, position_variance
        Prior variances `s_w`, `s_tau`, `s_x`.
    concentration, mean_precision, scale, degrees_of_freedom
        Of the mixture: `alpha`, `beta0`, `J0 = scale I`, `eta0` (D + 2 when None).
    layer_rounds, max_iterations, tolerance
        Of the schedule: rounds before the mixture, joint iterations at most, relative change of the bound that ends it.
    """

    method: str = "crowdclustering"
    dimensions: Literal["auto"] | int = "auto"
    starts: int = 4
    clusters: Literal["bound", "heldout"] | int = "heldout"
    label_weight: Literal["auto"] | float = "auto"
    worker_prior: Literal["independent", "shared"] = "shared"
    folds: int = 5
    seed: int = 0
    weight_variance: float = 1.0
    bias_variance: float = 10.0
    position_variance: float = 1.0
    concentration: float = 1.0
    mean_precision: float = 0.01
    scale: float = 0.5
    degrees_of_freedom: float | None = None
    layer_rounds: int = 20
    max_iterations: int = 100
    tolerance: float = 1e-6
    bootstrap: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UserError(f"there is no method {self.method}", todo=f"choose one of {', '.join(METHODS)}")
        dimensions = MOST_AUTO_DIMENSIONS if self.dimensions == "auto" else self.dimensions
        if not 1 <= dimensions <= 20:
            raise UserError(f"{dimensions} dimensions cannot be fitted", todo="choose 1 to 20 dimensions, or auto")
        for name in ("starts", "layer_rounds", "max_iterations"):
            if getattr(self, name) < 1:
                raise UserError(f"the {name.replace('_', ' ')} must be at least 1", todo="raise the number")
        clusters: object = self.clusters
        if clusters not in ("bound", "heldout") and not (isinstance(clusters, int) and clusters >= 1):
            todo = "choose heldout, bound or a number from 1 on"
            raise UserError(f"{clusters} is no number of clusters", todo=todo)
        weight = 1.0 if self.label_weight == "auto" else self.label_weight
        if not 0 < weight <= 1:
            todo = "choose a number above 0 and up to 1, or auto"
            raise UserError(f"the label weight {weight:g} is out of range", todo=todo)
        if self.worker_prior not in WORKER_PRIORS:
            raise UserError(
                f"there is no worker prior {self.worker_prior}", todo=f"choose {' or '.join(WORKER_PRIORS)}"
            )
        if self.bootstrap < 0:
            raise UserError("responses cannot be drawn anew less than no times", todo="choose 0 or more draws")
        if self.seed < 0:
            raise UserError("the seed must not be negative", todo="choose 0 or a larger whole number")
        if self.seed > LARGEST_NUMBER:
            raise UserError("the seed is too large", todo=f"choose {LARGEST_NUMBER:,} at most")
        self._check_folds()
        positive = ("weight_variance", "bias_variance", "position_variance", "concentration", "mean_precision", "scale")
        for name in (*positive, "tolerance"):
            if not 0 < getattr(self, name) < float("inf"):
                raise UserError(f"the {name.replace('_', ' ')} must be a number above 0", todo="choose another")
        if self.degrees_of_freedom is not None and not self.degrees_of_freedom > dimensions - 1:
            raise UserError(
                f"the degrees of freedom must be above {dimensions - 1} with {dimensions} dimensions",
                todo="raise them",
            )

    def _check_folds(self) -> None:
        if self.folds != 0 and self.folds < 2:
            raise UserError(f"{self.folds} folds cannot be held out", todo="choose 2 or more, or 0 for none")
        if self.folds == 0 and ("auto" in (self.dimensions, self.label_weight) or self.clusters == "heldout"):
            todo = "choose 2 folds or more, or give dimensions, label weight and clusters"
            raise UserError("without held-out responses nothing can be chosen by them", todo=todo)

    def as_dict(self) -> dict[str, Any]:
        """The settings as a plain dictionary, for summaries and storage."""
        return asdict(self)
