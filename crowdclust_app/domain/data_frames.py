"""Tables as pandas data frames; pandas is asked for when the first one is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crowdclust_app.domain.errors import UserError

if TYPE_CHECKING:
    import pandas as pd


def frame_of(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Make a data frame of rows.

    Parameters
    ----------
    header
        Names of the columns.
    rows
        As many values each.

    Raises
    ------
    UserError
        When pandas is not installed.
    """
    return _pandas().DataFrame.from_records(list(rows), columns=list(header))


def frame_of_columns(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Make a data frame of columns by name; raises like `frame_of`."""
    return _pandas().DataFrame(dict(columns))


def series_of(values: Sequence[Any], index: Sequence[str], name: str, index_name: str) -> pd.Series[Any]:
    """Make a series of values by name; raises like `frame_of`."""
    pandas = _pandas()
    return pandas.Series(list(values), index=pandas.Index(index, name=index_name), name=name)


def _pandas() -> Any:
    try:
        import pandas  # only notebooks need it
    except ImportError as error:
        todo = "install it with: pip install 'crowdclust[notebook]'"
        raise UserError("data frames need pandas, which is not installed", todo=todo) from error
    return pandas
