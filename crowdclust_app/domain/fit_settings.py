"""What decides a fit: every setting with its default, its limits and what forms and commands say of it.

The estimator's parameters, the options of `crowdclust fit` and the form on the Clusters screen are made from these
fields. Only the standard library is imported, so that `--help` stays quick.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal, TypeVar

from crowdclust_app.domain.campaign import LARGEST_NUMBER
from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.domain.methods import METHODS, names_of

T = TypeVar("T")

AUTO: Final = "auto"
WORKER_PRIORS = ("shared", "independent")
MOST_DIMENSIONS = 20
MOST_AUTO_DIMENSIONS = 6
"""The most that `dimensions="auto"` may choose."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is said of one setting.

    Parameters
    ----------
    title
        Its name for people.
    about
        What it does, without a full stop.
    key
        Its name in stored runs and summaries; with dashes instead of underscores, the option of the command line.
    words
        The values that are words, and how a form calls them.
    low, high
        The numbers that a form offers; None where only words are allowed, or only Python sets it.
    step
        By how much a form raises a number; below 1 where it need not be a whole one.
    metavar
        The value in the command line's help.
    expert
        Whether only Python sets it: neither the command line nor the form offers it.
    """

    title: str
    about: str
    key: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    low: int | None = None
    high: int | None = None
    step: float = 1
    metavar: str = "NAME"
    expert: bool = False


def _setting(default: T, title: str, about: str, **more: Any) -> T:
    made: T = field(default=default, metadata={"setting": Setting(title, about, **more)})
    return made


def _expert(default: T, title: str, about: str) -> T:
    return _setting(default, title, about, expert=True)


@dataclass(frozen=True, slots=True)
class FitSettings:
    """Everything that decides a fit besides the responses; `SETTINGS` says what each field does.

    Raises
    ------
    InvalidInputError
        When a value is out of range.

    Examples
    --------
    >>> settings = FitSettings(n_clusters=4, n_starts=2)
    >>> settings.as_dict()["clusters"]
    4
    >>> FitSettings.from_dict({"clusters": 4, "starts": 2}) == settings
    True
    """

    method: str = _setting(
        "crowdclustering",
        "Method",
        "crowdclustering: every worker sorts in an own way; consensus: the same model with all sorting alike; to "
        f"compare with, {', '.join(names_of('baseline'))}, which take the number of clusters from crowdclustering "
        "where none is given, but for decisions, which chooses it",
        words={name: METHODS[name].title for name in names_of("clustering", "baseline")},
    )
    dimensions: Literal["auto"] | int = _setting(
        AUTO,
        "Dimensions",
        "dimensions of the space in which the items lie; auto: what predicts held-out responses best",
        words={AUTO: AUTO},
        low=1,
        high=MOST_DIMENSIONS,
        metavar="D|auto",
    )
    n_starts: int = _setting(
        4,
        "Starts",
        "the fit begins so many times from different positions, and the highest bound wins",
        key="starts",
        low=1,
        high=50,
        metavar="N",
    )
    n_clusters: Literal["bound", "heldout"] | int = _setting(
        "heldout",
        "Clusters",
        "heldout: as many as predict held-out responses well; bound: as many as the bound favours, as in the paper; or "
        "a number",
        key="clusters",
        words={"heldout": "by held-out sets", "bound": "by the bound"},
        low=1,
        high=999,
        metavar="bound|heldout|K",
    )
    label_weight: Literal["auto"] | float = _setting(
        AUTO,
        "Label weight",
        "how much each pair label counts, above 0 and up to 1, which is the paper's model; less when a misplaced photo "
        "should not count as many independent mistakes; auto: 2 over the mean number of photos in a response, and with "
        "the bound what predicts held-out responses best",
        words={AUTO: AUTO},
        low=0,
        high=1,
        step=0.05,
        metavar="W|auto",
    )
    worker_prior: Literal["independent", "shared"] = _setting(
        "shared",
        "Worker prior",
        "what is expected of a worker before any answer; shared: learnt from all workers; independent: the same for "
        "each, as in the paper",
        words={"shared": "Learnt", "independent": "The same"},
    )
    folds: int = _expert(
        5,
        "Folds",
        "folds of the cross-validation that says how well held-out responses are predicted; 0 leaves that out",
    )
    seed: int = _setting(
        0,
        "Seed",
        "of everything random: the same seed and the same data give the same run",
        low=0,
        high=999_999,
        metavar="S",
    )
    weight_variance: float = _expert(1.0, "Weight variance", "prior variance s_w of the workers' weights")
    bias_variance: float = _expert(10.0, "Bias variance", "prior variance s_tau of the workers' biases")
    position_variance: float = _expert(
        1.0, "Position variance", "prior variance s_x of the positions while there is no mixture"
    )
    concentration: float = _expert(1.0, "Concentration", "alpha of the Dirichlet process")
    mean_precision: float = _expert(0.01, "Mean precision", "beta0 of the components' Normal-Wishart prior")
    scale: float = _expert(0.5, "Scale", "J0 of the components' Normal-Wishart prior, times the identity")
    degrees_of_freedom: float | None = _expert(
        None, "Degrees of freedom", "eta0 of the components' Normal-Wishart prior; dimensions + 2 when None"
    )
    layer_rounds: int = _expert(20, "Layer rounds", "rounds of positions and workers before there is a mixture")
    max_iterations: int = _expert(100, "Max iterations", "joint iterations at most")
    tolerance: float = _expert(1e-6, "Tolerance", "relative change of the bound that ends the joint iterations")
    bootstrap: int = _setting(
        0, "Bootstrap", "draw the responses anew so many times and say how stable each cluster is", low=0, metavar="B"
    )

    def __post_init__(self) -> None:
        for wrong, what, todo in self._rules():
            if wrong:
                raise InvalidInputError(what, todo=todo)

    def _rules(self) -> Iterator[tuple[bool, str, str]]:
        """Whether each rule is broken, what is wrong then, and what to do; later rules rely on the earlier ones."""
        methods = names_of("clustering", "baseline")
        yield self.method not in methods, f"there is no method {self.method}", f"choose one of {', '.join(methods)}"
        dimensions = MOST_AUTO_DIMENSIONS if self.dimensions == AUTO else self.dimensions
        todo = f"choose 1 to {MOST_DIMENSIONS} dimensions, or auto"
        yield not _whole(dimensions, 1, MOST_DIMENSIONS), f"{dimensions} dimensions cannot be fitted", todo
        for name in ("n_starts", "layer_rounds", "max_iterations"):
            what = f"the {SETTINGS[name].title.lower()} must be at least 1"
            yield not _whole(getattr(self, name), 1), what, "choose a whole number from 1 on"
        wrong = self.n_clusters not in ("bound", "heldout") and not _whole(self.n_clusters, 1)
        yield wrong, f"{self.n_clusters} is no number of clusters", "choose heldout, bound or a number from 1 on"
        weight = 1.0 if self.label_weight == AUTO else self.label_weight
        todo = "choose a number above 0 and up to 1, or auto"
        yield not isinstance(weight, int | float), f"{weight} is no label weight", todo
        yield not 0 < weight <= 1, f"the label weight {weight:g} is out of range", todo
        wrong = self.worker_prior not in WORKER_PRIORS
        yield wrong, f"there is no worker prior {self.worker_prior}", f"choose {' or '.join(WORKER_PRIORS)}"
        what = "responses cannot be drawn anew less than no times"
        yield not _whole(self.bootstrap, 0), what, "choose 0 or more draws"
        todo = "choose 0 or a larger whole number"
        yield not isinstance(self.seed, int), f"{self.seed} is no seed", todo
        yield self.seed < 0, "the seed must not be negative", todo
        yield self.seed > LARGEST_NUMBER, "the seed is too large", f"choose {LARGEST_NUMBER:,} at most"
        wrong = self.folds != 0 and not _whole(self.folds, 2)
        yield wrong, f"{self.folds} folds cannot be held out", "choose 2 or more, or 0 for none"
        wrong = self.folds == 0 and (AUTO in (self.dimensions, self.label_weight) or self.n_clusters == "heldout")
        todo = "choose 2 folds or more, or give dimensions, label weight and clusters"
        yield wrong, "without held-out responses nothing can be chosen by them", todo
        positive = ("weight_variance", "bias_variance", "position_variance", "concentration", "mean_precision", "scale")
        for name in (*positive, "tolerance"):
            what = f"the {SETTINGS[name].title.lower()} must be a number above 0"
            yield not _positive(getattr(self, name)), what, "choose another"
        freedom = self.degrees_of_freedom
        what = f"the degrees of freedom must be above {dimensions - 1} with {dimensions} dimensions"
        yield freedom is not None and not (_positive(freedom) and freedom > dimensions - 1), what, "raise them"

    def as_dict(self) -> dict[str, Any]:
        """The settings as a plain dictionary, with the keys of stored runs and summaries."""
        return {setting.key: getattr(self, name) for name, setting in SETTINGS.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> FitSettings:
        """The settings of such a dictionary: what it lacks has its default, and what is unknown is left out."""
        return cls(**{name: values[setting.key] for name, setting in SETTINGS.items() if setting.key in values})


def _whole(value: object, low: int, high: int | None = None) -> bool:
    return isinstance(value, int) and low <= value and (high is None or value <= high)


def _positive(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < float("inf")


SETTINGS: Mapping[str, Setting] = {
    one.name: replace(one.metadata["setting"], key=one.metadata["setting"].key or one.name)
    for one in fields(FitSettings)
}
"""What is said of each field of `FitSettings`, by its name and in its order."""
