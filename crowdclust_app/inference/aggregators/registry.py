"""The aggregators by their names in `domain.methods`."""

from __future__ import annotations

from importlib import import_module

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.domain.methods import METHODS, names_of
from crowdclust_app.inference.aggregators.base import Aggregator
from crowdclust_app.inference.aggregators.label_table import encode_labels


def method_named(name: str) -> type[Aggregator]:
    """Find an aggregator.

    Raises
    ------
    InvalidInputError
        When there is none of that name.
    """
    names = names_of("aggregator")
    if name not in names:
        raise InvalidInputError(f"there is no method {name}", todo=f"take one of {', '.join(names)}")
    module, _, class_name = METHODS[name].path.partition(":")
    found: type[Aggregator] = getattr(import_module(module), class_name)
    return found


def warm_up(name: str) -> None:
    """Have an aggregator's kernels compiled, which must not count as its time."""
    tiny = encode_labels([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 0])
    method_named(name)(max_iterations=1).fit_encoded(tiny)
