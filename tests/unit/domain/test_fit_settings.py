"""The settings of a fit: one list of fields, of which parameters, options, forms and stored keys are made."""

from __future__ import annotations

import inspect
import math

import pytest

from crowdclust_app.cli.parser import build_parser
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.fit_settings import MOST_DIMENSIONS, SETTINGS, WORKER_PRIORS, FitSettings
from crowdclust_app.inference.crowdclustering import Crowdclustering
from crowdclust_app.inference.crowdclustering.model.settings import resolved


def test_stored_settings_come_back_whatever_else_is_stored() -> None:
    settings = FitSettings(method="consensus", n_clusters=7, n_starts=2, label_weight=0.25, bootstrap=3)
    stored = settings.as_dict()
    assert (stored["clusters"], stored["starts"]) == (7, 2)
    assert FitSettings.from_dict(stored) == settings
    assert FitSettings.from_dict({**stored, "gone": 1}) == settings
    assert FitSettings.from_dict({"clusters": "bound"}) == FitSettings(n_clusters="bound")


def test_every_setting_says_what_it_does() -> None:
    for name, setting in SETTINGS.items():
        assert setting.title, name
        assert setting.about, name
        assert not setting.about.endswith("."), name
    assert len({setting.key for setting in SETTINGS.values()}) == len(SETTINGS)


def test_the_estimator_has_the_same_settings_and_defaults() -> None:
    parameters = inspect.signature(Crowdclustering).parameters
    assert set(parameters) - {"consensus"} == set(SETTINGS) - {"method", "bootstrap"}
    defaults = {name: one.default for name, one in parameters.items() if name != "consensus"}
    assert FitSettings(**defaults) == FitSettings()


def test_the_command_line_has_the_same_settings_and_defaults() -> None:
    args = vars(build_parser().parse_args(["fit", "x.csv"]))
    assert {setting.key for setting in SETTINGS.values() if not setting.expert} <= set(args)
    assert FitSettings.from_dict(args) == FitSettings()
    given = ["--clusters", "5", "--label-weight", "0.5", "--dimensions", "3", "--worker-prior", "independent"]
    asked = FitSettings.from_dict(vars(build_parser().parse_args(["fit", "x.csv", *given])))
    assert asked == FitSettings(n_clusters=5, label_weight=0.5, dimensions=3, worker_prior="independent")


def test_the_limits_that_forms_offer_are_allowed() -> None:
    for name, setting in SETTINGS.items():
        if setting.expert:
            continue
        numbers = [] if setting.low is None else [setting.low or setting.step, setting.high or setting.low]
        for value in (*setting.words, *numbers):
            assert getattr(FitSettings(**{name: value}), name) == value  # type: ignore[arg-type]
    assert set(SETTINGS["worker_prior"].words) == set(WORKER_PRIORS)
    assert SETTINGS["dimensions"].high == MOST_DIMENSIONS


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dimensions": 21}, "21 dimensions cannot be fitted; choose 1 to 20"),
        ({"dimensions": 2.5}, "2.5 dimensions cannot be fitted"),
        ({"label_weight": None}, "None is no label weight"),
        ({"n_clusters": 2.0}, "2.0 is no number of clusters"),
        ({"seed": 0.5}, "0.5 is no seed"),
        ({"n_starts": 2.5}, "the starts must be at least 1; choose a whole number"),
        ({"tolerance": math.nan}, "the tolerance must be a number above 0"),
        ({"concentration": "much"}, "the concentration must be a number above 0"),
        ({"degrees_of_freedom": math.inf}, "the degrees of freedom must be above 5"),
    ],
)
def test_what_is_no_value_of_a_setting_is_refused(change: dict, words: str) -> None:
    with pytest.raises(UserError, match=words):
        FitSettings(**change)


def test_what_is_to_be_chosen_begins_from_the_papers_values() -> None:
    settings = resolved(FitSettings())
    assert (settings.dimensions, settings.label_weight, settings.degrees_of_freedom) == (4, 1.0, 6.0)
    assert (settings.n_clusters, settings.consensus) == ("heldout", False)
    consensus = resolved(FitSettings(method="consensus", dimensions=2, degrees_of_freedom=8.0))
    assert (consensus.worker_prior, consensus.degrees_of_freedom, consensus.consensus) == ("independent", 8.0, True)
