"""Kernels work with LLVM vectors and with plain loops, and are compiled anew when what they are made of changes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.core import base, cgutils

import crowdclust_app
from crowdclust_app.inference.crowdclustering.kernels import backend, vectors, vectors_plain

PACKAGE = Path(crowdclust_app.__file__).parent
MODEL_TESTS = Path(__file__).parents[1] / "model"


def run(script: str, root: Path = PACKAGE.parent, **environment: str) -> str:
    # caches beside the modules, as in an installation
    inherited = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={**inherited, "PYTHONPATH": str(root), **environment},
        cwd=root,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_private_parts_of_numba_that_are_used_are_there() -> None:
    of_cgutils = {"alloca_once", "for_range_slice", "get_or_insert_function", "ir"} - set(dir(cgutils))
    of_contexts = {"make_array", "get_dummy_value"} - set(dir(base.BaseContext))
    assert not of_cgutils, f"numba.core.cgutils has no {of_cgutils}: mend kernels/vectors_llvm.py, or bound numba"
    assert not of_contexts, f"Numba's contexts have no {of_contexts}: mend kernels/vectors_llvm.py, or bound numba"
    assert njit(_nrt=False, forceinline=True)(lambda x: x + 1)(1) == 2, "Numba's options of kernels/jit.py are gone"
    if os.environ.get("CROWDCLUST_KERNELS") != "plain":
        assert backend.LLVM is not None, "kernels/vectors_llvm.py could not be imported"


def test_plain_kernels_meet_the_label_by_label_computation() -> None:
    """The same tests once more: every sum to 1e-10, exact curvatures, and a bound that never falls."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, MODEL_TESTS.glob("test_b*.py"))],
        env={**os.environ, "CROWDCLUST_KERNELS": "plain"},
        cwd=PACKAGE.parent,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert {path.name for path in MODEL_TESTS.glob("test_b*.py")} == {"test_blocks.py", "test_bound.py"}


CHOICE = """
from crowdclust_app.inference.crowdclustering.kernels import backend, vectors, vectors_plain
print(backend.LLVM is None, vectors.set_weighted_rows is vectors_plain.set_weighted_rows, backend.CODE_NAME[:5])
"""


@pytest.mark.parametrize("part", ["alloca_once", "for_range_slice", "get_or_insert_function"])
def test_plain_loops_take_over_where_numba_lacks_a_part(part: str) -> None:
    assert run(f"import numba.core.cgutils as c\ndel c.{part}\n{CHOICE}", CROWDCLUST_KERNELS="") == "True True plain"


def test_the_environment_chooses_plain_loops() -> None:
    assert run(CHOICE, CROWDCLUST_KERNELS="plain") == "True True plain"
    assert run(CHOICE, CROWDCLUST_KERNELS="") == "False False llvm_"


@njit
def with_vectors(x, matrix, out):
    vectors.set_vector_matrix(x, 1, 2, matrix, 3, 16, 6, out, 0, 16, 0.5)
    vectors.add_vector_matrix(x, 1, 2, matrix, 3, 16, 6, out, 4, 12, 2.0)
    vectors.set_weighted_rows(x, 0, matrix, 2, 16, out, 16, 8, 1.5)
    vectors.add_weighted_rows(x, 5, matrix, 1, 16, out, 20, 4, 0.0)
    vectors.row_dot_products(x, 1, matrix, 2, 16, 8, out, 24)
    vectors.copy_column(matrix, 5, 16, out, 32)
    vectors.prefetch(matrix, 0, 64)


@njit
def with_loops(x, matrix, out):
    vectors_plain.set_vector_matrix(x, 1, 2, matrix, 3, 16, 6, out, 0, 16, 0.5)
    vectors_plain.add_vector_matrix(x, 1, 2, matrix, 3, 16, 6, out, 4, 12, 2.0)
    vectors_plain.set_weighted_rows(x, 0, matrix, 2, 16, out, 16, 8, 1.5)
    vectors_plain.add_weighted_rows(x, 5, matrix, 1, 16, out, 20, 4, 0.0)
    vectors_plain.row_dot_products(x, 1, matrix, 2, 16, 8, out, 24)
    vectors_plain.copy_column(matrix, 5, 16, out, 32)
    vectors_plain.prefetch(matrix, 0, 64)


def test_both_kinds_of_loops_compute_the_same() -> None:
    random = np.random.default_rng(0)
    x, matrix = random.normal(size=16), random.normal(size=160)
    found, expected = np.full(40, np.nan), np.full(40, np.nan)
    with_vectors(x, matrix, found)
    with_loops(x, matrix, expected)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    rows = matrix[3 : 3 + 96].reshape(6, 16)
    product = x[1:13:2] @ rows
    np.testing.assert_allclose(expected[:16], 0.5 * product + np.append(np.zeros(4), 2.0 * product[:12]), rtol=1e-12)
    strided = matrix[2 : 2 + 112].reshape(7, 16)[:, :8]
    np.testing.assert_allclose(expected[16:20], 1.5 + x[:7] @ strided[:, :4], rtol=1e-12)
    np.testing.assert_allclose(expected[24:31], strided @ x[1:9], rtol=1e-12)
    np.testing.assert_array_equal(expected[32:39], matrix[5:117:16])
    assert np.isfinite(expected[:39]).all()
    assert expected[31] == 0.0
    assert np.isnan(expected[39])


def test_code_that_was_compiled_from_other_sources_is_not_used(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__", "gui", "resources"))
    kernels = tmp_path / PACKAGE.name / "inference" / "crowdclustering" / "kernels"
    script = """
import numpy as np
from crowdclust_app.inference.crowdclustering.kernels.mixture import fill_moments, moments
moments(np.ones((2, 1)), np.ones((2, 1)))
print(sum(fill_moments.stats.cache_hits.values()), sum(fill_moments.stats.cache_misses.values()))
"""
    assert run(script, tmp_path) == "0 1"
    assert run(script, tmp_path) == "1 0"
    for name in ("vectors_llvm.py", "arrays.py", "jit.py"):
        with (kernels / name).open("a", encoding="utf-8") as file:
            file.write("\n# another one\n")
        assert run(script, tmp_path) == "0 1", name
    # plain and LLVM code are kept side by side
    assert run(script, tmp_path, CROWDCLUST_KERNELS="plain") == "0 1"
    assert run(script, tmp_path, CROWDCLUST_KERNELS="") == "1 0"
    assert run(script, tmp_path, CROWDCLUST_KERNELS="plain") == "1 0"


def test_a_digest_knows_names_and_contents_but_not_line_ends(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1\ny = 2\n")
    first = backend.digest_sources(tmp_path)
    (tmp_path / "a.py").write_bytes(b"x = 1\r\ny = 2\r\n")
    assert backend.digest_sources(tmp_path) == first
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert backend.digest_sources(tmp_path) != first
    (tmp_path / "b.py").rename(tmp_path / "a.py")
    (tmp_path / "a.py").write_bytes(b"x = 1\ny = 3\n")
    assert backend.digest_sources(tmp_path) != first
