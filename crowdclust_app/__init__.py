"""Crowdclust: which categories an image collection falls into, from many people's partial groupings.

`import crowdclust_app as cc` is the Python API; what `cc.__all__` lists is public. Every name is imported when it is
first used, so that the import itself costs nothing and the command line starts fast.

Examples
--------
>>> import crowdclust_app as cc
>>> data = cc.simulate(n_items=60, n_clusters=3, items_per_hit=12, n_workers=10, seed=1)
>>> model = cc.Crowdclustering(n_starts=1, seed=1).fit(data.responses)
>>> int(model.labels_.max())
3
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from crowdclust_app.version import __version__ as __version__

TYPE_CHECKING = False  # typing itself is a third of what `import crowdclust_app.cli` takes
if TYPE_CHECKING:
    from typing import Any

_MODULES = {"metrics": "crowdclust_app.evaluation.metrics", "plot": "crowdclust_app.api.plot"}
_ATTRIBUTES = {
    "crowdclust_app.api.campaign_file": ("CampaignTables", "open_campaign"),
    "crowdclust_app.api.simulation": ("simulate", "simulate_labels"),
    "crowdclust_app.api.tables": ("read_labels", "read_responses", "read_truth"),
    "crowdclust_app.domain.errors": ("InvalidInputError", "NotConvergedWarning", "NotFittedError", "UserError"),
    "crowdclust_app.domain.response_table": ("ResponseTable",),
    "crowdclust_app.inference.aggregators": ("OnlineSBIC", "OnlineSortedSBIC"),
}


@cache
def _homes() -> dict[str, str]:
    """Module of each public name; estimators are those of the table of methods."""
    from crowdclust_app.domain.methods import METHODS

    listed = {name: module for module, names in _ATTRIBUTES.items() for name in names}
    return listed | {name: module for module, name in (method.path.split(":") for method in METHODS.values())}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562).

    Nothing is imported before: Ctrl+C must end the command line from its first moment.
    """
    if name == "__all__":
        found: Any = ["__version__", *sorted([*_MODULES, *_homes()])]
    elif name in _MODULES:
        found = import_module(_MODULES[name])
    elif not name.startswith("_") and name in _homes():
        found = getattr(import_module(_homes()[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return list(__getattr__("__all__"))
