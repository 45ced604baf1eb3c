"""The innermost loops of the kernels, written as LLVM instructions on whole vectors of numbers.

What a compiler makes of plain loops over a few numbers is slow: each time it tests whether a vector fits, and works
the rest off one by one. These loops are written as vectors of `LANES` numbers from the start, and all lengths are
multiples of that. Where the processor's vectors are shorter, the compiler splits them. All arrays are flat, and a
position in one is an argument of its own: making a slice costs more than most of these loops.

They use private parts of Numba, all imported here: where one is gone, `vectors` takes `vectors_plain` instead.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from crowdclust_app.inference.crowdclustering.kernels.arrays import EVEN, FEATURES, IGNORED, LANES, SMALLEST_SQUARE

__all__ = [
    "add_vector_matrix",
    "add_weighted_rows",
    "copy_column",
    "prefetch",
    "row_dot_products",
    "set_vector_matrix",
    "set_weighted_rows",
    "squares_to_bound_terms",
    "squares_to_curvatures",
]

# Vectors of columns that are added up side by side: in four dimensions second moments have so many, in six twice.
SIDE_BY_SIDE = 3
# Numbers in a line of the cache.
CACHE_LINE = 8
# Beyond this, exp(-Delta) is lost in 1 + exp(-Delta) many times over.
LARGEST_EXPONENT = 60.0
# 1 / 2!, 1 / 3!, ..., 1 / 13!
SERIES = tuple(1.0 / factorial(n) for n in range(2, 14))

# Private parts, untyped.
_private: Any = cgutils
alloca_once, for_range_slice = _private.alloca_once, _private.for_range_slice
get_or_insert_function, ir = _private.get_or_insert_function, _private.ir

_DOUBLE, _INT, _SHORT = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(_DOUBLE, LANES)
# Only multiply-add may be fused: the order of operations carries the precision.
_FUSED = ("contract",)
_INT64, _FLOAT64, _VOID = types.int64, types.float64, types.void
_Build = Callable[[Any, Any, Any, Any], Any]


class _Writer:
    """Writes instructions on vectors of `LANES` numbers, for the arguments of a function."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder = builder
        self.arguments = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, arguments, strict=True)
        ]
        self.nothing = context.get_dummy_value()

    def add(self, index: Any, more: int) -> Any:
        """A position and a constant."""
        return self.builder.add(index, ir.Constant(_INT, more))

    def address(self, data: Any, index: Any) -> Any:
        """Of one entry."""
        return self.builder.gep(data, [index])

    def row_addresses(self, data: Any, index: Any, stride: Any) -> list[Any]:
        """Of the first entries of `FEATURES` rows."""
        steps = [self.builder.mul(stride, ir.Constant(_INT, q)) for q in range(FEATURES)]
        return [self.address(data, self.builder.add(index, step)) for step in steps]

    def load_number(self, data: Any, index: Any) -> Any:
        """One entry."""
        return self.builder.load(self.address(data, index), align=8, typ=_DOUBLE)

    def load(self, data: Any, index: Any) -> Any:
        """The entries from `index` on."""
        where = self.builder.bitcast(self.address(data, index), _VECTOR.as_pointer())
        return self.builder.load(where, align=8, typ=_VECTOR)

    def store(self, vector: Any, data: Any, index: Any) -> None:
        """Write the entries from `index` on."""
        self.builder.store(vector, self.builder.bitcast(self.address(data, index), _VECTOR.as_pointer()), align=8)

    def shuffle(self, a: Any, b: Any, lanes: list[int]) -> Any:
        """These lanes of two vectors."""
        return self.builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_SHORT, LANES), lanes))

    def splat(self, number: Any) -> Any:
        """A number in all lanes."""
        empty = ir.Constant(_VECTOR, ir.Undefined)
        return self.shuffle(self.builder.insert_element(empty, number, ir.Constant(_SHORT, 0)), empty, [0] * LANES)

    def multiply_add(self, a: Any, b: Any, c: Any) -> Any:
        """`a b + c`."""
        return self.builder.fadd(self.builder.fmul(a, b, flags=_FUSED), c, flags=_FUSED)

    def intrinsic_call(self, name: str, *vectors: Any) -> Any:
        """One of LLVM's own functions."""
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * len(vectors))
        full = f"llvm.{name}.v{LANES}f64"
        function = get_or_insert_function(self.builder.module, kind, full)
        return self.builder.call(function, vectors)

    def accumulator(self, begin: float) -> Any:
        """A vector that changes in a loop, on the stack; the compiler keeps it in a register."""
        made = alloca_once(self.builder, _VECTOR)
        self.builder.store(_constant(begin), made)
        return made

    def value_of(self, variable: Any) -> Any:
        """Its value."""
        return self.builder.load(variable, typ=_VECTOR)

    def loop(self, length: Any, step: int = LANES, begin: Any = None) -> Any:
        """A loop in steps of whole vectors."""
        first = ir.Constant(_INT, 0) if begin is None else begin
        return for_range_slice(self.builder, first, length, ir.Constant(_INT, step), intp=_INT)

    def lane_sums(self, vectors: list[Any]) -> Any:
        """The sums of the lanes of each of up to `LANES` vectors, side by side."""
        vectors = vectors + [_constant(0.0)] * (LANES - len(vectors))
        size = 1
        while size < LANES:
            blocks = range(0, LANES, 2 * size)
            even = [lane + more for b in blocks for more in (0, LANES) for lane in range(b, b + size)]
            odd = [lane + size for lane in even]
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [self.builder.fadd(self.shuffle(a, b, even), self.shuffle(a, b, odd)) for a, b in pairs]
            size *= 2
        return vectors[0]

    def square_root(self, square: Any) -> Any:
        """`Delta` from its square."""
        return self.intrinsic_call("sqrt", self.intrinsic_call("maxnum", square, _constant(SMALLEST_SQUARE)))

    def exponential(self, delta: Any) -> Any:
        """`exp(-delta) - 1` for `delta >= 0`, to the last few bits also where it is small; no branches.

        The terms of the series are added by pairs, which wait less for one another.
        """
        b = self.builder
        x = b.fneg(self.intrinsic_call("minnum", delta, _constant(LARGEST_EXPONENT)))
        # exp(x) = 2^k exp(r) with |r| <= log(2) / 2: a Taylor series for exp(r) - 1, the exponent's bits for 2^k
        k = self.intrinsic_call("floor", self.multiply_add(x, _constant(1.4426950408889634), _constant(0.5)))
        r = self.multiply_add(k, _constant(-0.6931471805599453), x)
        power, terms = r, [_constant(value) for value in SERIES]
        while len(terms) > 1:
            last = terms[-1:] if len(terms) % 2 else []
            terms = [self.multiply_add(terms[i + 1], power, terms[i]) for i in range(0, len(terms) - 1, 2)] + last
            power = b.fmul(power, power)
        small = self.multiply_add(b.fmul(r, r), terms[0], r)
        short, long = ir.VectorType(_SHORT, LANES), ir.VectorType(_INT, LANES)
        raised = b.add(b.sext(b.fptosi(k, short), long), ir.Constant(long, [1023] * LANES))
        scale = b.bitcast(b.shl(raised, ir.Constant(long, [52] * LANES)), _VECTOR)
        return self.multiply_add(scale, small, b.fsub(scale, _constant(1.0)))

    def curvature(self, delta: Any) -> tuple[Any, Any]:
        """`lambda` at `Delta`, and `1 + exp(-Delta)`."""
        e = self.exponential(delta)
        above = self.builder.fadd(e, _constant(2.0))
        under = self.builder.fmul(self.builder.fmul(_constant(4.0), delta), above)
        return self.builder.fdiv(e, under), above


def _constant(value: float) -> Any:
    """The same number in all lanes."""
    return ir.Constant(_VECTOR, [value] * LANES)


def _vector_function(typed: Callable[..., Any]) -> Any:
    """Numba's `intrinsic`, untyped: kernels call the function without its first argument, the typing context."""
    return intrinsic(typed)


def _build_weighted_rows(begin_with_number: bool) -> _Build:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        factors, f, features, offset, stride, out, o, length, begin = w.arguments
        numbers = [w.splat(w.load_number(factors, w.add(f, q))) for q in range(FEATURES)]
        rows, target, begin = w.row_addresses(features, offset, stride), w.address(out, o), w.splat(begin)
        with w.loop(length) as (b, _):
            even = begin if begin_with_number else w.load(target, b)
            odd = builder.fmul(numbers[0], w.load(rows[0], b), flags=_FUSED)
            for q in range(1, FEATURES, 2):
                even = w.multiply_add(numbers[q], w.load(rows[q], b), even)
                odd = w.multiply_add(numbers[q + 1], w.load(rows[q + 1], b), odd)
            w.store(builder.fadd(even, odd), target, b)
        return w.nothing

    return build


@_vector_function
def set_weighted_rows(
    typing_context: Any,
    factors: Any,
    f: Any,
    features: Any,
    offset: Any,
    stride: Any,
    out: Any,
    o: Any,
    length: Any,
    begin: Any,
) -> Any:
    """`out[o + b] = begin + sum_q factors[f + q] features[offset + q stride + b]` over `FEATURES` rows `q`."""
    kinds = (factors, _INT64, features, _INT64, _INT64, out, _INT64, _INT64, _FLOAT64)
    return _VOID(*kinds), _build_weighted_rows(True)


@_vector_function
def add_weighted_rows(
    typing_context: Any,
    factors: Any,
    f: Any,
    features: Any,
    offset: Any,
    stride: Any,
    out: Any,
    o: Any,
    length: Any,
    begin: Any,
) -> Any:
    """Like `set_weighted_rows`, but add to `out`; `begin` says nothing."""
    kinds = (factors, _INT64, features, _INT64, _INT64, out, _INT64, _INT64, _FLOAT64)
    return _VOID(*kinds), _build_weighted_rows(False)


@_vector_function
def copy_column(typing_context: Any, features: Any, offset: Any, stride: Any, out: Any, o: Any) -> Any:
    """`out[o + q] = features[offset + q stride]` for `FEATURES` rows `q`."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        features, offset, stride, out, o = w.arguments
        for q, line in enumerate(w.row_addresses(features, offset, stride)):
            builder.store(builder.load(line, align=8, typ=_DOUBLE), w.address(out, w.add(o, q)))
        return w.nothing

    return _VOID(features, _INT64, _INT64, out, _INT64), build


@_vector_function
def prefetch(typing_context: Any, array: Any, begin: Any, length: Any) -> Any:
    """Bring entries that will be needed soon into the cache; nothing else happens."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        array, begin, length = w.arguments
        start = w.address(array, begin)
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, _SHORT, _SHORT, _SHORT])
        function = get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # to be read, into every level of the cache, data
        how = [ir.Constant(_SHORT, value) for value in (0, 3, 1)]
        with w.loop(length, CACHE_LINE) as (b, _):
            builder.call(function, [builder.bitcast(w.address(start, b), byte), *how])
        return w.nothing

    return _VOID(array, _INT64, _INT64), build


@_vector_function
def row_dot_products(
    typing_context: Any, cells: Any, c: Any, features: Any, offset: Any, stride: Any, length: Any, out: Any, o: Any
) -> Any:
    """`out[o + q] = sum_b cells[c + b] features[offset + q stride + b]` for `FEATURES` rows `q`, 0 up to a vector."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        cells, c, features, offset, stride, length, out, o = w.arguments
        rows, source = w.row_addresses(features, offset, stride), w.address(cells, c)
        sums = [w.accumulator(0.0) for _ in rows]
        with w.loop(length) as (b, _):
            cell = w.load(source, b)
            for row, variable in zip(rows, sums, strict=True):
                builder.store(w.multiply_add(cell, w.load(row, b), w.value_of(variable)), variable)
        for begin in range(0, FEATURES, LANES):
            w.store(
                w.lane_sums([w.value_of(variable) for variable in sums[begin : begin + LANES]]), out, w.add(o, begin)
            )
        return w.nothing

    return _VOID(cells, _INT64, features, _INT64, _INT64, _INT64, out, _INT64), build


def _build_vector_matrix(add: bool) -> _Build:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        factors, f, skip, matrix, m, stride, rows, out, o, length, scale = w.arguments
        scale = w.splat(scale)

        def columns(begin: Any, end: Any, count: int) -> None:
            """`count` vectors of columns side by side: a factor is read once for all of them."""
            with w.loop(end, count * LANES, begin) as (b, _):
                sums = [[w.accumulator(0.0) for _ in range(count)] for _ in range(EVEN)]
                with w.loop(rows, EVEN) as (p, _):
                    for more, variables in enumerate(sums):
                        row = w.add(p, more)
                        factor = w.splat(w.load_number(factors, builder.add(f, builder.mul(row, skip))))
                        start = builder.add(builder.add(m, b), builder.mul(row, stride))
                        for place, variable in enumerate(variables):
                            vector = w.load(matrix, w.add(start, place * LANES))
                            builder.store(w.multiply_add(factor, vector, w.value_of(variable)), variable)
                for place, pair in enumerate(zip(*sums, strict=True)):
                    found = builder.fmul(builder.fadd(*map(w.value_of, pair)), scale, flags=_FUSED)
                    target = w.add(builder.add(o, b), place * LANES)
                    w.store(builder.fadd(w.load(out, target), found, flags=_FUSED) if add else found, out, target)

        end = builder.sub(length, builder.urem(length, ir.Constant(_INT, SIDE_BY_SIDE * LANES)))
        columns(ir.Constant(_INT, 0), end, SIDE_BY_SIDE)
        columns(end, length, 1)
        return w.nothing

    return build


@_vector_function
def set_vector_matrix(
    typing_context: Any,
    factors: Any,
    f: Any,
    skip: Any,
    matrix: Any,
    m: Any,
    stride: Any,
    rows: Any,
    out: Any,
    o: Any,
    length: Any,
    scale: Any,
) -> Any:
    """`out[o + b] = scale sum_p factors[f + p skip] matrix[m + p stride + b]`; the rows `p` have to be even."""
    kinds = (factors, _INT64, _INT64, matrix, _INT64, _INT64, _INT64, out, _INT64, _INT64, _FLOAT64)
    return _VOID(*kinds), _build_vector_matrix(add=False)


@_vector_function
def add_vector_matrix(
    typing_context: Any,
    factors: Any,
    f: Any,
    skip: Any,
    matrix: Any,
    m: Any,
    stride: Any,
    rows: Any,
    out: Any,
    o: Any,
    length: Any,
    scale: Any,
) -> Any:
    """Like `set_vector_matrix`, but add to `out`."""
    kinds = (factors, _INT64, _INT64, matrix, _INT64, _INT64, _INT64, out, _INT64, _INT64, _FLOAT64)
    return _VOID(*kinds), _build_vector_matrix(add=True)


@_vector_function
def squares_to_curvatures(typing_context: Any, cells: Any, length: Any, weight: Any) -> Any:
    """Turn the first squares `Delta^2` into `weight * lambda`."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        cells, length, weight = w.arguments
        weight = w.splat(weight)
        with w.loop(length) as (b, _):
            curvature, _above = w.curvature(w.square_root(w.load(cells, b)))
            w.store(builder.fmul(weight, curvature), cells, b)
        return w.nothing

    return _VOID(cells, _INT64, _FLOAT64), build


@_vector_function
def squares_to_bound_terms(typing_context: Any, cells: Any, begin: Any, length: Any, out: Any) -> Any:
    """Turn squares `Delta^2` into `lambda`, `IGNORED` ones into 0.

    Writes into `out`, `LANES` numbers each: sums of `lambda`, sums of `Delta`, products of `1 + exp(-Delta)`. These
    factors are at most 2, which bounds the length.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        cells, begin, length, out = w.arguments
        source, none, one = w.address(cells, begin), _constant(0.0), _constant(1.0)
        variables = curved, deltas, product = w.accumulator(0.0), w.accumulator(0.0), w.accumulator(1.0)
        with w.loop(length) as (b, _):
            square = w.load(source, b)
            counts = builder.fcmp_ordered(">", square, _constant(0.5 * IGNORED))
            delta = w.square_root(square)
            curvature, above = w.curvature(delta)
            curvature = builder.select(counts, curvature, none)
            w.store(curvature, source, b)
            builder.store(builder.fadd(w.value_of(curved), curvature), curved)
            builder.store(builder.fadd(w.value_of(deltas), builder.select(counts, delta, none)), deltas)
            builder.store(builder.fmul(w.value_of(product), builder.select(counts, above, one)), product)
        for place, variable in enumerate(variables):
            w.store(w.value_of(variable), out, ir.Constant(_INT, place * LANES))
        return w.nothing

    return _VOID(cells, _INT64, _INT64, out), build
