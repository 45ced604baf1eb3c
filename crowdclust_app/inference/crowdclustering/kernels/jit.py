"""How kernels are compiled: without the GIL, cached on disk, and working where nothing can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

from crowdclust_app.inference.crowdclustering.kernels.backend import CODE_NAME

__all__ = ["bare_kernel", "bare_part", "kernel", "part"]

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered so that they vectorise. Nothing is assumed about NaN and infinity.
REORDER = {"reassoc", "contract", "nsz", "arcp"}
# Of a function that makes no arrays: counting references would take as long as small responses do, and threads would
# wait for each other's counts.
BARE = {"_nrt": False}


def kernel(function: Function) -> Function:
    """Compile a function that is called from Python; its machine code is kept for the next start.

    Numba keeps the code beside the module, or in the user's cache folder when the package's folder is read-only.
    Where neither can be written it refuses at import; then the code is compiled anew in every process.

    Numba takes cached code for fresh while the function's own file is the same, but kernels take in functions and
    constants of other files. So the name under which the code is kept has a digest of all of them.
    """
    return _kernel(function, {})


def bare_kernel(function: Function) -> Function:
    """Like `kernel`, for a function that makes no arrays."""
    return _kernel(function, BARE)


def part(function: Function) -> Function:
    """Compile a function that is merged into the kernels that call it."""
    return _part(function, {})


def bare_part(function: Function) -> Function:
    """Like `part`, for bare kernels."""
    return _part(function, BARE)


def _kernel(function: Function, more: dict[str, Any]) -> Function:
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": REORDER, **more}
    function.__qualname__ = f"{function.__qualname__}_{CODE_NAME}"
    try:
        return cast(Function, njit(cache=True, **options)(function))
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        return cast(Function, njit(**options)(function))


def _part(function: Function, more: dict[str, Any]) -> Function:
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": REORDER, **more}
    return cast(Function, njit(forceinline=True, **options)(function))
