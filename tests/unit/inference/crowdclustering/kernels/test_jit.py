"""Compiled kernels are compiled anew when what they are made of changes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from crowdclust_app.inference.crowdclustering.kernels import pair_labels, workers


@pytest.mark.parametrize(
    ("made_with", "files"),
    [
        (pair_labels.MADE_WITH, ("arrays.py", "jit.py", "vectors.py")),
        (workers.MADE_WITH, ("arrays.py", "jit.py")),
    ],
)
def test_a_file_of_kernels_says_what_it_is_compiled_with(made_with: str, files: tuple[str, ...]) -> None:
    digest = hashlib.sha256()
    for name in files:
        text = (Path(pair_labels.__file__).parent / name).read_text(encoding="utf-8")
        digest.update(text.encode())
    assert made_with == digest.hexdigest()[:16], "write the new digest into the file of kernels"
