"""The parameters of an estimator by name, as those who know scikit-learn expect them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from crowdclust_app.domain.errors import InvalidInputError, NotFittedError


class Parameters:
    """Gives and changes what the constructors of a class were told by keyword."""

    def _keep_parameters(self, given: Mapping[str, Any]) -> None:
        """Keep each parameter unchanged under its own name, on which scikit-learn's `clone` relies."""
        for name in self._parameter_names():
            setattr(self, name, given[name])

    @classmethod
    def _parameter_names(cls) -> list[str]:
        """A class's own parameters, then those of the classes that it builds on."""
        names: dict[str, None] = {}
        for kind in cls.__mro__[:-1]:
            if "__init__" in vars(kind):
                parameters = inspect.signature(vars(kind)["__init__"]).parameters.values()
                names |= dict.fromkeys(one.name for one in parameters if one.kind is one.KEYWORD_ONLY)
        return list(names)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the parameters as they were set (`deep` is there for scikit-learn)."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters by name."""
        unknown = set(parameters) - set(self._parameter_names())
        if unknown:
            raise InvalidInputError(f"{type(self).__name__} has no parameter {', '.join(sorted(unknown))}")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    # "classifier" or "clusterer", where it is one in the eyes of scikit-learn
    _estimator_type: str | None = None

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what this is; only scikit-learn calls this, so it is imported by then."""
        utils = sys.modules["sklearn.utils"]
        classifies = self._estimator_type == "classifier"
        return utils.Tags(
            estimator_type=self._estimator_type,
            target_tags=utils.TargetTags(required=classifies),
            classifier_tags=utils.ClassifierTags() if classifies else None,
        )

    def _check_fitted(self) -> None:
        """Raise `NotFittedError` before the first fit; the names of what a fit gives end in `_`."""
        if not any(name.endswith("_") for name in vars(self)):
            raise NotFittedError(f"{type(self).__name__} is not fitted yet", todo="fit it first")

    if not TYPE_CHECKING:  # a type checker is to find misspelt names

        def __getattr__(self, name: str) -> Any:
            if name.endswith("_") and not name.startswith("_"):
                self._check_fitted()
            raise AttributeError(f"{type(self).__name__} has no {name}", name=name, obj=self)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({inside})"
