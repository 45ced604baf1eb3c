"""What the kernels are compiled with, and the name that tells their compiled code from any other."""

from __future__ import annotations

import hashlib
import os
from importlib import import_module
from pathlib import Path
from types import ModuleType

__all__ = ["CODE_NAME", "LLVM"]

PACKAGE = "crowdclust_app.inference.crowdclustering.kernels"


def _load_llvm() -> ModuleType | None:
    """`vectors_llvm`; None where `CROWDCLUST_KERNELS=plain` asks for plain loops, or Numba lacks what it needs."""
    if os.environ.get("CROWDCLUST_KERNELS") == "plain":
        return None
    try:
        return import_module(f"{PACKAGE}.vectors_llvm")
    except (ImportError, AttributeError):
        return None


def digest_sources(folder: Path) -> str:
    """Digest of all modules in a folder, 12 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        # a changed line end changes no code
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:12]


LLVM = _load_llvm()
"""The vector functions written in LLVM, or None."""

CODE_NAME = f"{'plain' if LLVM is None else 'llvm'}_{digest_sources(Path(__file__).parent)}"
"""Part of the names under which Numba keeps compiled kernels; another one after any change of these modules."""
