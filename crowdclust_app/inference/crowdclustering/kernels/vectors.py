"""Whole vectors of numbers, for the innermost loops of the kernels.

What a compiler makes of plain loops over a few numbers is slow: each time it looks whether a vector fits, and works
the rest off one by one. These loops are written as vectors of `LANES` numbers from the start, and all lengths are
multiples of that. Where the processor's vectors are shorter, the compiler splits them. All arrays are flat.

Kernels take these in when they are compiled, and compiled kernels are kept until their own file changes. So that file
says what it was compiled with (`MADE_WITH`), and a test holds that.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from crowdclust_app.inference.crowdclustering.kernels.arrays import EVEN, FEATURES, LANES

__all__ = ["IGNORED", "add_combined", "add_rows", "combine", "curve", "set_rows", "sum_rows", "take_rows", "weigh"]

# Vectors of columns that are added up side by side: in four dimensions second moments have so many, in six twice.
AT_ONCE = 3
# Numbers that the processor reads at once.
LINE = 8
# In place of the square of a pair that does not count.
IGNORED = -1e300
# Rounding may have left squares at zero or just below.
SMALLEST_SQUARE = 1e-60
# Beyond this, exp(-Delta) is lost in 1 + exp(-Delta) many times over.
LARGEST_EXPONENT = 60.0
# 1 / 2!, 1 / 3!, ..., 1 / 13!
SERIES = tuple(1.0 / factorial(n) for n in range(2, 14))

# llvmlite's, which comes with numba
ir: Any = cgutils.ir  # type: ignore[attr-defined]

_DOUBLE, _INT, _SHORT = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(_DOUBLE, LANES)
# Only multiply-add may be fused: the order of operations carries the precision.
_FUSED = ("contract",)
_WHOLE, _NUMBER, _NOTHING = types.int64, types.float64, types.void
_Build = Callable[[Any, Any, Any, Any], Any]


class _Writer:
    """Writes instructions on vectors of `LANES` numbers, for the arguments of a function."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder = builder
        self.arguments = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, arguments, strict=True)
        ]
        self.done = context.get_dummy_value()

    def plus(self, index: Any, more: int) -> Any:
        """So much further on."""
        return self.builder.add(index, ir.Constant(_INT, more))

    def place(self, data: Any, index: Any) -> Any:
        """Where an entry is."""
        return self.builder.gep(data, [index])

    def lines(self, data: Any, index: Any, stride: Any) -> list[Any]:
        """Where `FEATURES` rows begin."""
        steps = [self.builder.mul(stride, ir.Constant(_INT, q)) for q in range(FEATURES)]
        return [self.place(data, self.builder.add(index, step)) for step in steps]

    def number(self, data: Any, index: Any) -> Any:
        """One entry."""
        return self.builder.load(self.place(data, index), align=8, typ=_DOUBLE)

    def load(self, data: Any, index: Any) -> Any:
        """The entries from `index` on."""
        where = self.builder.bitcast(self.place(data, index), _VECTOR.as_pointer())
        return self.builder.load(where, align=8, typ=_VECTOR)

    def store(self, vector: Any, data: Any, index: Any) -> None:
        """Write the entries from `index` on."""
        self.builder.store(vector, self.builder.bitcast(self.place(data, index), _VECTOR.as_pointer()), align=8)

    def shuffle(self, a: Any, b: Any, lanes: list[int]) -> Any:
        """These lanes of two vectors."""
        return self.builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_SHORT, LANES), lanes))

    def spread(self, number: Any) -> Any:
        """A number in all lanes."""
        empty = ir.Constant(_VECTOR, ir.Undefined)
        return self.shuffle(self.builder.insert_element(empty, number, ir.Constant(_SHORT, 0)), empty, [0] * LANES)

    def multiply_add(self, a: Any, b: Any, c: Any) -> Any:
        """`a b + c`."""
        return self.builder.fadd(self.builder.fmul(a, b, flags=_FUSED), c, flags=_FUSED)

    def call(self, name: str, *vectors: Any) -> Any:
        """A function that the compiler knows."""
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * len(vectors))
        full = f"llvm.{name}.v{LANES}f64"
        function = cgutils.get_or_insert_function(self.builder.module, kind, full)  # type: ignore[no-untyped-call]
        return self.builder.call(function, vectors)

    def variable(self, begin: float) -> Any:
        """What changes in a loop."""
        made = cgutils.alloca_once(self.builder, _VECTOR)  # type: ignore[no-untyped-call]
        self.builder.store(_constant(begin), made)
        return made

    def get(self, variable: Any) -> Any:
        """Its value."""
        return self.builder.load(variable, typ=_VECTOR)

    def loop(self, length: Any, step: int = LANES, begin: Any = None) -> Any:
        """A loop in steps of whole vectors."""
        first = ir.Constant(_INT, 0) if begin is None else begin
        return cgutils.for_range_slice(self.builder, first, length, ir.Constant(_INT, step), intp=_INT)

    def totals(self, vectors: list[Any]) -> Any:
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

    def root(self, square: Any) -> Any:
        """`Delta` from its square."""
        return self.call("sqrt", self.call("maxnum", square, _constant(SMALLEST_SQUARE)))

    def exponential(self, delta: Any) -> Any:
        """`exp(-delta) - 1` for `delta >= 0`, to the last few bits also where it is small; no branches.

        The terms of the series are added by pairs, which wait less for one another.
        """
        b = self.builder
        x = b.fneg(self.call("minnum", delta, _constant(LARGEST_EXPONENT)))
        k = self.call("floor", self.multiply_add(x, _constant(1.4426950408889634), _constant(0.5)))
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


def _function(typed: Callable[..., Any]) -> Any:
    """For kernels alone: what is called there has one argument less than what says its types."""
    return intrinsic(typed)


def _rows_times(begin_with_number: bool) -> _Build:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        factors, f, features, at, stride, out, o, length, begin = w.arguments
        numbers = [w.spread(w.number(factors, w.plus(f, q))) for q in range(FEATURES)]
        rows, target, begin = w.lines(features, at, stride), w.place(out, o), w.spread(begin)
        with w.loop(length) as (b, _):
            even = begin if begin_with_number else w.load(target, b)
            odd = builder.fmul(numbers[0], w.load(rows[0], b), flags=_FUSED)
            for q in range(1, FEATURES, 2):
                even = w.multiply_add(numbers[q], w.load(rows[q], b), even)
                odd = w.multiply_add(numbers[q + 1], w.load(rows[q + 1], b), odd)
            w.store(builder.fadd(even, odd), target, b)
        return w.done

    return build


@_function
def set_rows(
    typing_context: Any,
    factors: Any,
    f: Any,
    features: Any,
    at: Any,
    stride: Any,
    out: Any,
    o: Any,
    length: Any,
    begin: Any,
) -> Any:
    """`out[o + b] = begin + sum_q factors[f + q] features[at + q stride + b]` over `FEATURES` rows `q`."""
    kinds = (factors, _WHOLE, features, _WHOLE, _WHOLE, out, _WHOLE, _WHOLE, _NUMBER)
    return _NOTHING(*kinds), _rows_times(True)


@_function
def add_rows(
    typing_context: Any,
    factors: Any,
    f: Any,
    features: Any,
    at: Any,
    stride: Any,
    out: Any,
    o: Any,
    length: Any,
    begin: Any,
) -> Any:
    """Like `set_rows`, but add to `out`; `begin` says nothing."""
    kinds = (factors, _WHOLE, features, _WHOLE, _WHOLE, out, _WHOLE, _WHOLE, _NUMBER)
    return _NOTHING(*kinds), _rows_times(False)


@_function
def take_rows(typing_context: Any, features: Any, at: Any, stride: Any, out: Any, o: Any) -> Any:
    """`out[o + q] = features[at + q stride]` for `FEATURES` rows `q`."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        features, at, stride, out, o = w.arguments
        for q, line in enumerate(w.lines(features, at, stride)):
            builder.store(builder.load(line, align=8, typ=_DOUBLE), w.place(out, w.plus(o, q)))
        return w.done

    return _NOTHING(features, _WHOLE, _WHOLE, out, _WHOLE), build


@_function
def fetch(typing_context: Any, array: Any, begin: Any, length: Any) -> Any:
    """Have the processor bring some entries near that will be needed soon; nothing else happens."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        array, begin, length = w.arguments
        start = w.place(array, begin)
        near = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [near, _SHORT, _SHORT, _SHORT])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")  # type: ignore[no-untyped-call]
        how = [ir.Constant(_SHORT, value) for value in (0, 3, 1)]
        with w.loop(length, LINE) as (b, _):
            builder.call(function, [builder.bitcast(w.place(start, b), near), *how])
        return w.done

    return _NOTHING(array, _WHOLE, _WHOLE), build


@_function
def sum_rows(
    typing_context: Any, cells: Any, c: Any, features: Any, at: Any, stride: Any, length: Any, out: Any, o: Any
) -> Any:
    """`out[o + q] = sum_b cells[c + b] features[at + q stride + b]` for `FEATURES` rows `q`, and 0 up to a vector."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        cells, c, features, at, stride, length, out, o = w.arguments
        rows, source = w.lines(features, at, stride), w.place(cells, c)
        sums = [w.variable(0.0) for _ in rows]
        with w.loop(length) as (b, _):
            cell = w.load(source, b)
            for row, variable in zip(rows, sums, strict=True):
                builder.store(w.multiply_add(cell, w.load(row, b), w.get(variable)), variable)
        for begin in range(0, FEATURES, LANES):
            w.store(w.totals([w.get(variable) for variable in sums[begin : begin + LANES]]), out, w.plus(o, begin))
        return w.done

    return _NOTHING(cells, _WHOLE, features, _WHOLE, _WHOLE, _WHOLE, out, _WHOLE), build


def _combination(add: bool) -> _Build:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        factors, f, skip, matrix, m, stride, rows, out, o, length, scale = w.arguments
        scale = w.spread(scale)

        def columns(begin: Any, end: Any, count: int) -> None:
            """So many vectors of columns at once: a factor is read once for all of them."""
            with w.loop(end, count * LANES, begin) as (b, _):
                sums = [[w.variable(0.0) for _ in range(count)] for _ in range(EVEN)]
                with w.loop(rows, EVEN) as (p, _):
                    for more, variables in enumerate(sums):
                        row = w.plus(p, more)
                        factor = w.spread(w.number(factors, builder.add(f, builder.mul(row, skip))))
                        start = builder.add(builder.add(m, b), builder.mul(row, stride))
                        for place, variable in enumerate(variables):
                            vector = w.load(matrix, w.plus(start, place * LANES))
                            builder.store(w.multiply_add(factor, vector, w.get(variable)), variable)
                for place, pair in enumerate(zip(*sums, strict=True)):
                    found = builder.fmul(builder.fadd(*map(w.get, pair)), scale, flags=_FUSED)
                    target = w.plus(builder.add(o, b), place * LANES)
                    w.store(builder.fadd(w.load(out, target), found, flags=_FUSED) if add else found, out, target)

        at_once = builder.sub(length, builder.urem(length, ir.Constant(_INT, AT_ONCE * LANES)))
        columns(ir.Constant(_INT, 0), at_once, AT_ONCE)
        columns(at_once, length, 1)
        return w.done

    return build


@_function
def combine(
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
    kinds = (factors, _WHOLE, _WHOLE, matrix, _WHOLE, _WHOLE, _WHOLE, out, _WHOLE, _WHOLE, _NUMBER)
    return _NOTHING(*kinds), _combination(add=False)


@_function
def add_combined(
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
    """Like `combine`, but add to `out`."""
    kinds = (factors, _WHOLE, _WHOLE, matrix, _WHOLE, _WHOLE, _WHOLE, out, _WHOLE, _WHOLE, _NUMBER)
    return _NOTHING(*kinds), _combination(add=True)


@_function
def curve(typing_context: Any, cells: Any, length: Any, weight: Any) -> Any:
    """Turn the first squares `Delta^2` into `weight * lambda`."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        cells, length, weight = w.arguments
        weight = w.spread(weight)
        with w.loop(length) as (b, _):
            curvature, _above = w.curvature(w.root(w.load(cells, b)))
            w.store(builder.fmul(weight, curvature), cells, b)
        return w.done

    return _NOTHING(cells, _WHOLE, _NUMBER), build


@_function
def weigh(typing_context: Any, cells: Any, begin: Any, length: Any, out: Any) -> Any:
    """Turn squares `Delta^2` into `lambda`, `IGNORED` ones into 0.

    Writes into `out`, `LANES` numbers each: sums of `lambda`, sums of `Delta`, products of `1 + exp(-Delta)`. These
    factors are at most 2, which bounds the length.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        cells, begin, length, out = w.arguments
        source, none, one = w.place(cells, begin), _constant(0.0), _constant(1.0)
        variables = curved, deltas, product = w.variable(0.0), w.variable(0.0), w.variable(1.0)
        with w.loop(length) as (b, _):
            square = w.load(source, b)
            counts = builder.fcmp_ordered(">", square, _constant(0.5 * IGNORED))
            delta = w.root(square)
            curvature, above = w.curvature(delta)
            curvature = builder.select(counts, curvature, none)
            w.store(curvature, source, b)
            builder.store(builder.fadd(w.get(curved), curvature), curved)
            builder.store(builder.fadd(w.get(deltas), builder.select(counts, delta, none)), deltas)
            builder.store(builder.fmul(w.get(product), builder.select(counts, above, one)), product)
        for place, variable in enumerate(variables):
            w.store(w.get(variable), out, ir.Constant(_INT, place * LANES))
        return w.done

    return _NOTHING(cells, _WHOLE, _WHOLE, out), build
