"""A model of the user's own that turns a photo into an embedding: a local ONNX file (extra `onnx`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.descriptors import resized
from crowdclust_app.io.images import read_picture

VERSION = 1
"""Grows whenever photos are prepared differently."""

# What an input takes when the model leaves its size open.
_USUAL_SIDE = 224
# Pictures with more pixels a side would fill the memory; published models take a tenth of it.
_LARGEST_SIDE = 4096
# Means and spreads of the colours of ImageNet, by which nearly every published model was trained.
_MEAN = np.array([0.485, 0.456, 0.406])
_SPREAD = np.array([0.229, 0.224, 0.225])
_COLOURS = 3


class EmbeddingModel:
    """An ONNX model with one picture for input.

    Photos are brought to the size that the model's input asks for (224 where it leaves that open), cut to the middle
    square first, and, for numbers with a fraction, to the mean and spread of ImageNet's colours. The first output is
    the embedding; what it has besides the row of the picture is averaged over places (a grid of features) or laid out.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    UserError
        When onnxruntime is not installed, the file is not such a model, or its input is no picture.
    """

    def __init__(self, path: Path) -> None:
        try:
            import onnxruntime  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError as error:
            what = "embeddings by a model need the package onnxruntime, which is not installed"
            raise UserError(what, todo="install crowdclust with its extra onnx") from error
        self.path = Path(path)
        if not self.path.is_file():
            raise UserError("there is no such file", where=str(self.path), todo="name an ONNX file")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # what is wrong comes as an error, in a sentence of ours
        try:
            # read by us: a model that keeps its weights in other files would open whatever path it names
            self._session: Any = onnxruntime.InferenceSession(
                self.path.read_bytes(), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the runtime has no base class for its errors
            what = "is not an ONNX model that can be opened"
            raise UserError(
                what, where=str(self.path), todo="choose a model that turns a picture into numbers"
            ) from error
        inputs = self._session.get_inputs()
        shape = list(inputs[0].shape) if inputs else []
        axis = next((at for at in (1, 3) if len(shape) == 4 and shape[at] in (1, _COLOURS)), None)
        kinds = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64,
                 "tensor(uint8)": np.uint8}  # fmt: skip
        if len(inputs) != 1 or axis is None or inputs[0].type not in kinds:
            what = "is a model whose input is not one picture"
            raise UserError(what, where=str(self.path), todo="choose one with an input such as 1 x 3 x 224 x 224")
        self._name, self._type = inputs[0].name, kinds[inputs[0].type]
        self._colours_first, self._colours = axis == 1, int(shape[axis])
        height, width = (shape[2], shape[3]) if axis == 1 else (shape[1], shape[2])
        self.height, self.width = (
            side if isinstance(side, int) and side > 0 else _USUAL_SIDE for side in (height, width)
        )
        if max(self.height, self.width) > _LARGEST_SIDE:
            what = f"is a model that asks for photos of {self.width:,} x {self.height:,} pixels"
            todo = f"choose one for photos of at most {_LARGEST_SIDE:,} x {_LARGEST_SIDE:,}"
            raise UserError(what, where=str(self.path), todo=todo)

    def embed(self, path: Path) -> NDArray[np.float32]:
        """Embed a photo; shape (D,).

        Raises
        ------
        UserError
            When the photo cannot be read, or the model cannot take it.
        """
        picture = self._prepared(path)
        try:
            (output, *_) = self._session.run(None, {self._name: picture})
        except Exception as error:
            what = "is a model that fails on a photo of the size it asks for"
            raise UserError(what, where=str(self.path), todo="choose another model") from error
        found = np.asarray(output, dtype=np.float32)
        if found.ndim == 4:
            found = found.mean(axis=(2, 3) if self._colours_first else (1, 2))
        elif found.ndim == 3:
            found = found.mean(axis=1)
        found = found.ravel()
        if not len(found) or not np.isfinite(found).all():
            what = "is a model that gives no numbers for a photo"
            raise UserError(what, where=str(self.path), todo="choose another model")
        return found

    def _prepared(self, path: Path) -> NDArray[Any]:
        pixels = read_picture(path, 2 * max(self.height, self.width)).pixels[..., :3]
        side = min(pixels.shape[:2])
        top, left = ((size - side) // 2 for size in pixels.shape[:2])
        shown = resized(pixels[top : top + side, left : left + side], self.width, self.height)
        if self._colours == 1:
            shown = shown.mean(axis=2, keepdims=True)
        if self._type is np.uint8:
            whole = np.round(shown * 255.0)
        else:
            whole = (shown - _mean_of(_MEAN, self._colours)) / _mean_of(_SPREAD, self._colours)
        if self._colours_first:
            whole = whole.transpose(2, 0, 1)
        return np.ascontiguousarray(whole[None].astype(self._type))


def _mean_of(colours: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    return colours if count == _COLOURS else colours.mean(keepdims=True)
