"""Section 10: confusion matrices, entropy and Fisher's plane; and that compiled code is kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

import crowdclust_app
from crowdclust_app.inference.crowdclustering.model import confusion, summary


def worker_and_clusters(seed, dimensions=3, spread=1.0):
    random = np.random.default_rng(seed)
    weights = random.normal(size=(1, dimensions, dimensions))
    variances = random.uniform(0.02, 0.2, size=(1, dimensions, dimensions))
    root = 0.3 * random.normal(size=(2, dimensions, dimensions))
    return {
        "weights": spread * (weights + weights.transpose(0, 2, 1)) / 2,
        "weight_variances": (variances + variances.transpose(0, 2, 1)) / 2,
        "biases": random.normal(size=1),
        "bias_variances": random.uniform(0.05, 0.5, size=1),
        "means": random.normal(size=(2, dimensions)),
        "covariances": root @ root.transpose(0, 2, 1) + 0.02 * np.eye(dimensions),
    }


def sample_activities(of, k1, k2, count, seed):
    """Activities of pairs of different items, drawn from the posterior one by one."""
    random = np.random.default_rng(seed)
    D = of["means"].shape[1]
    upper = np.triu_indices(D)
    entries = random.normal(of["weights"][0][upper], np.sqrt(of["weight_variances"][0][upper]), (count, len(upper[0])))
    W = np.zeros((count, D, D))
    W[:, upper[0], upper[1]] = entries
    W[:, upper[1], upper[0]] = entries
    tau = random.normal(of["biases"][0], np.sqrt(of["bias_variances"][0]), count)
    first = random.multivariate_normal(of["means"][k1], of["covariances"][k1], count)
    second = random.multivariate_normal(of["means"][k2], of["covariances"][k2], count)
    return np.einsum("nd,nde,ne->n", first, W, second) + tau


@pytest.mark.parametrize("seed", range(6))
def test_confusion_agrees_with_sampling_and_the_papers_bound_stays_below(seed):
    of = worker_and_clusters(seed)
    mean, square = confusion.activity_moments(**of)
    shown, lower = confusion.calibrated_confusion(mean, square), confusion.bound_confusion(mean, square)
    for k1, k2 in ((0, 0), (0, 1), (1, 1)):
        activities = sample_activities(of, k1, k2, 200_000, seed)
        spread = activities.std()
        np.testing.assert_allclose(mean[0, k1, k2], activities.mean(), atol=0.015 * (1 + spread))
        np.testing.assert_allclose(square[0, k1, k2], (activities**2).mean(), rtol=0.03, atol=0.01)
        sampled = expit(activities).mean()
        assert lower[0, k1, k2] < sampled + 0.005
        assert abs(shown[0, k1, k2] - sampled) < 0.06
        assert abs(shown[0, k1, k2] - sampled) <= abs(lower[0, k1, k2] - sampled) + 0.01


def test_the_papers_bound_can_be_loose_where_the_calibrated_form_is_not():
    of = worker_and_clusters(1, spread=4.0)
    mean, square = confusion.activity_moments(**of)
    sampled = expit(sample_activities(of, 0, 1, 200_000, 0)).mean()
    assert abs(confusion.calibrated_confusion(mean, square)[0, 0, 1] - sampled) < 0.06
    assert confusion.bound_confusion(mean, square)[0, 0, 1] < sampled - 0.1


def test_confusion_is_finite_for_extreme_workers():
    of = worker_and_clusters(0, spread=1e6)
    mean, square = confusion.activity_moments(**of)
    for matrix in (confusion.calibrated_confusion(mean, square), confusion.bound_confusion(mean, square)):
        assert np.isfinite(matrix).all()
        assert ((matrix >= 0) & (matrix <= 1)).all()


def test_clusters_are_ordered_by_items_and_empty_ones_left_out():
    memberships = np.array([[0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]])
    order = summary.order_by_size(memberships)
    np.testing.assert_array_equal(order, [3, 0])
    np.testing.assert_allclose(summary.keep_columns(memberships, order)[0], [0.8, 0.2])


def test_entropy_is_in_bits():
    np.testing.assert_allclose(summary.entropy_bits(np.array([[1.0, 0.0], [0.5, 0.5]])), [0.0, 1.0])
    np.testing.assert_allclose(summary.entropy_bits(np.full((1, 8), 0.125)), [3.0])


def separated(random, clusters, dimensions):
    labels = np.repeat(np.arange(clusters), 40)
    positions = random.normal(size=(len(labels), dimensions))
    return positions, labels


def test_fishers_first_axis_ignores_width_without_separation():
    random = np.random.default_rng(0)
    positions, labels = separated(random, 3, 4)
    # axis 0 is wide and says nothing, axes 1 and 2 tell the clusters apart
    positions[:, 0] *= 30
    positions[:, 1] = 0.1 * positions[:, 1] + np.array([0, 3, 6])[labels]
    positions[:, 2] = 0.1 * positions[:, 2] + np.array([0, 1, 0])[labels]
    axes = summary.fisher_axes(positions, labels)
    np.testing.assert_allclose(np.linalg.norm(axes, axis=0), 1.0)
    np.testing.assert_allclose(np.abs(axes[1, 0]), 1.0, atol=0.05)
    np.testing.assert_allclose(np.abs(axes[2, 1]), 1.0, atol=0.05)


def test_two_clusters_have_one_fisher_axis_and_then_the_widest_across_it():
    random = np.random.default_rng(1)
    positions, labels = separated(random, 2, 3)
    positions[:, 2] = 0.1 * positions[:, 2] + 5 * labels
    positions[:, 1] *= 7
    axes = summary.fisher_axes(positions, labels)
    np.testing.assert_allclose(np.abs(axes[2, 0]), 1.0, atol=0.01)
    np.testing.assert_allclose(np.abs(axes[1, 1]), 1.0, atol=0.05)
    np.testing.assert_allclose(axes[:, 0] @ axes[:, 1], 0.0, atol=1e-6)


@pytest.mark.parametrize(("clusters", "dimensions"), [(1, 1), (1, 3), (3, 1), (2, 2), (5, 2)])
def test_fishers_plane_exists_for_any_number_of_clusters_and_dimensions(clusters, dimensions):
    positions, labels = separated(np.random.default_rng(2), clusters, dimensions)
    axes = summary.fisher_axes(positions, labels)
    assert axes.shape == (dimensions, 2)
    assert np.isfinite(axes).all()
    np.testing.assert_allclose(np.linalg.norm(axes, axis=0), [1.0, 0.0 if dimensions == 1 else 1.0])
    # and for points on one spot
    assert np.isfinite(summary.fisher_axes(np.ones_like(positions), labels)).all()


SCRIPT = """
import numpy as np
from crowdclust_app.inference.crowdclustering.kernels import mixture as mixture_kernels
found = np.zeros((3, 6))
mixture_kernels.fill_moments(np.ones((3, 2)), np.ones((3, 2)), found)
assert (found == [2.0, 1.0, 2.0, 1.0, 1.0, 1.0]).all()
print(mixture_kernels.__file__)
print(sum(getattr(mixture_kernels.fill_moments, "stats").cache_hits.values()))
"""


@pytest.fixture
def locked_copy(tmp_path: Path) -> Path:
    """A copy of the package in which Numba cannot keep code: its folder for that is a file."""
    site = tmp_path / "site"
    source = Path(crowdclust_app.__file__).parent
    folder = site / "crowdclust_app"
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__", "gui", "resources"))
    (folder / "inference" / "crowdclustering" / "kernels" / "__pycache__").write_text("locked", encoding="utf-8")
    return site


def run_copy(site: Path, home: Path) -> list[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_", "PYTHON"))}
    environment = {
        **inherited,
        "PYTHONPATH": str(site),
        "HOME": str(home),
        "USERPROFILE": str(home),
        "LOCALAPPDATA": str(home / "local"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=site,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split()
    assert lines[0].startswith(str(site))
    return lines


def test_code_is_kept_in_the_users_folder_when_the_packages_is_read_only(locked_copy, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    assert run_copy(locked_copy, home)[1] == "0"
    assert list(home.rglob("*.nbi"))
    # the next start finds it
    assert run_copy(locked_copy, home)[1] == "1"


def test_code_is_compiled_anew_where_nothing_can_be_written(locked_copy, tmp_path):
    home = tmp_path / "home"
    home.write_text("no folder", encoding="utf-8")
    assert run_copy(locked_copy, home)[1] == "0"
