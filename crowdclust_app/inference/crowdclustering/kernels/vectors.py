"""The innermost loops of the kernels: in LLVM's vectors, or plain where Numba lacks a part or as the user wishes.

All arrays are flat; `vectors_plain` says what each function does.
"""

from __future__ import annotations

from typing import Any

from crowdclust_app.inference.crowdclustering.kernels import vectors_plain
from crowdclust_app.inference.crowdclustering.kernels.backend import LLVM

_functions: Any = vectors_plain if LLVM is None else LLVM

add_vector_matrix = _functions.add_vector_matrix
add_weighted_rows = _functions.add_weighted_rows
copy_column = _functions.copy_column
prefetch = _functions.prefetch
row_dot_products = _functions.row_dot_products
set_vector_matrix = _functions.set_vector_matrix
set_weighted_rows = _functions.set_weighted_rows
squares_to_bound_terms = _functions.squares_to_bound_terms
squares_to_curvatures = _functions.squares_to_curvatures
