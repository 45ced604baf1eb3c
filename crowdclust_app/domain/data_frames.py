"""Tables as pandas data frames; pandas is imported when the first one is made, since only notebooks need it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from crowdclust_app.domain.errors import UserError

if TYPE_CHECKING:
    import pandas as pd


def data_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Make a data frame of columns by name.

    Raises
    ------
    UserError
        When pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        todo = "install it with: pip install pandas"
        raise UserError("data frames need pandas, which is not installed", todo=todo) from error
    return pd.DataFrame(dict(columns))
