"""Write the reference's page: every name of `crowdclust_app.__all__`, by what it is."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

import crowdclust_app as cc

PAGE = """# Reference

Every public name of `import crowdclust_app as cc`. What is not listed here may change.
"""
TABLE = """
## {title}

{about}

```{{eval-rst}}
.. currentmodule:: crowdclust_app

.. autosummary::
   :toctree: _generated/api
   :nosignatures:

{names}
```
"""
ROOMS = {
    "crowdclustering": "Clusters",
    "consensus": "Clusters",
    "aggregators": "Labels of single items",
    "experts": "Learning from experts",
}
SECTIONS = {
    "Data": "Read tables, simulate data, open campaigns.",
    "Clusters": "Estimators that take responses.",
    "Labels of single items": "Estimators that take `task`, `worker`, `label`: [Aggregating labels](aggregators.md).",
    "Learning from experts": "Estimators that take features and labels: [Learning from experts](experts.md).",
    "Errors and warnings": "What is raised and warned of.",
}


def functions_of(module: ModuleType) -> list[str]:
    """Functions that a public module is for."""
    return [
        name
        for name, found in vars(module).items()
        if inspect.isfunction(found) and found.__module__ == module.__name__ and not name.startswith("_")
    ]


def section_of(name: str) -> str:
    """Where a name is listed; a public module has a section of its own."""
    found = getattr(cc, name)
    if isinstance(found, ModuleType):
        return f"cc.{name}"
    if inspect.isclass(found) and issubclass(found, Exception):
        return "Errors and warnings"
    home = found.__module__.split(".")
    return next((section for room, section in ROOMS.items() if room in home), "Data")


def write_reference(page: Path) -> None:
    """Write the page, every name once."""
    names: dict[str, list[str]] = {}
    for name in cc.__all__:
        if name.startswith("__"):
            continue
        found = getattr(cc, name)
        parts = [f"{name}.{part}" for part in functions_of(found)] if isinstance(found, ModuleType) else [name]
        names.setdefault(section_of(name), []).extend(parts)
    modules = {title: inspect.getdoc(getattr(cc, title[3:])) or "" for title in names if title.startswith("cc.")}
    text = [PAGE]
    for title, about in (SECTIONS | modules).items():
        listed = "\n".join(f"   {name}" for name in names.pop(title))
        text.append(TABLE.format(title=title, about=about.split("\n\n")[0], names=listed))
    assert not names
    page.write_text("".join(text), encoding="utf-8")
