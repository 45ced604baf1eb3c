"""What photos look like in numbers: colours and edges, and a model of one's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx_files import UINT8, write_model
from PIL import Image

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.descriptors import COLOURS, EDGES, cie_lab, describe_photo, oriented_gradients


def photo(path: Path, colour: tuple[int, int, int] = (200, 30, 30), size: tuple[int, int] = (60, 40)) -> Path:
    Image.new("RGB", size, colour).save(path)
    return path


def test_a_descriptor_tells_colours_and_directions_apart(tmp_path: Path) -> None:
    red, blue = (describe_photo(photo(tmp_path / f"{n}.png", c)) for n, c in enumerate([(200, 0, 0), (0, 0, 200)]))
    assert red.shape == (COLOURS + EDGES,)
    assert red.dtype == np.float32
    assert np.isfinite(red).all()
    assert np.abs(red[:COLOURS] - blue[:COLOURS]).max() > 0.9
    assert (red[:COLOURS] ** 2).sum() == pytest.approx(3.0, abs=1e-5)
    stripes = np.zeros((96, 96, 3), np.uint8)
    stripes[::8] = stripes[1::8] = stripes[2::8] = stripes[3::8] = 255
    Image.fromarray(stripes).save(tmp_path / "lying.png")
    Image.fromarray(stripes.transpose(1, 0, 2).copy()).save(tmp_path / "standing.png")
    lying, standing = (describe_photo(tmp_path / f"{name}.png") for name in ("lying", "standing"))
    assert lying[:COLOURS] == pytest.approx(standing[:COLOURS], abs=0.01)
    assert np.abs(lying[COLOURS:] - standing[COLOURS:]).max() > 0.2


def test_colours_and_edges_are_what_scikit_image_computed() -> None:
    """Campaigns keep descriptors that skimage.color.rgb2lab and skimage.feature.hog (0.26) computed."""
    rows, columns = np.mgrid[:96, :96]
    channels = rows * columns % 256, (rows + columns) ** 2 // 40 % 256, 3 * abs(rows - columns) % 256
    lab = cie_lab(np.stack(channels, axis=-1) / 255.0)
    assert lab[[0, 1, 40, 95], [0, 1, 70, 50]] == pytest.approx(
        np.array(
            [
                [0.0, 0.0, 0.0],
                [0.05830875157287707, 0.26149931017807604, 0.09213852072625373],
                [53.1929134828797, 72.54103480667496, 24.145219022002596],
                [33.53964517508718, 60.64459454437593, -34.71327494866798],
            ]
        ),
        rel=1e-9,
    )
    assert lab.mean(axis=(0, 1)) == pytest.approx([52.78372169702125, 4.066926753966628, 16.389595720453972], rel=1e-9)
    assert lab.std(axis=(0, 1)) == pytest.approx([22.260444613349616, 41.20102068586589, 39.07487239329162], rel=1e-9)
    edges = oriented_gradients(lab[..., 0] / 100.0)
    assert edges.shape == (EDGES,)
    assert edges[[0, 3, 100, 333, 500, 799]] == pytest.approx(
        [
            0.03237719520927063,
            0.030019413441409185,
            0.35246212332273125,
            0.01489865915317413,
            0.04587257519984775,
            0.0005382321492828412,
        ],
        rel=1e-9,
    )
    assert edges.sum() == pytest.approx(92.02270309877599, rel=1e-9)
    assert edges @ np.arange(EDGES) == pytest.approx(36377.75348848992, rel=1e-9)


def test_every_kind_of_picture_has_a_descriptor(tmp_path: Path) -> None:
    for mode, name in (("L", "grey.png"), ("RGBA", "alpha.png"), ("P", "palette.gif"), ("1", "bits.png")):
        Image.new(mode, (1, 300)).save(tmp_path / name)
        assert np.isfinite(describe_photo(tmp_path / name)).all()
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff nothing")
    with pytest.raises(UserError):
        describe_photo(tmp_path / "broken.jpg")


def test_a_model_of_ones_own_embeds_photos(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    from crowdclust_app.io.onnx_model import EmbeddingModel

    red = photo(tmp_path / "red.png", (255, 0, 0))
    model = EmbeddingModel(write_model(tmp_path / "mean.onnx"))
    assert (model.height, model.width) == (8, 10)
    expected = (np.array([1.0, 0.0, 0.0]) - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    assert model.embed(red) == pytest.approx(expected, abs=0.01)
    # a size that is left open, an output with places, colours last, whole numbers
    places = EmbeddingModel(write_model(tmp_path / "same.onnx", ("n", 3, "h", "w"), "Identity", ("n", 3, "h", "w")))
    assert (places.height, places.width) == (224, 224)
    assert places.embed(red) == pytest.approx(expected, abs=0.01)
    whole = EmbeddingModel(write_model(tmp_path / "whole.onnx", (1, 6, 6, 3), "Identity", (1, 6, 6, 3), UINT8))
    assert whole.embed(red).tolist() == [255.0, 0.0, 0.0]
    grey = EmbeddingModel(write_model(tmp_path / "grey.onnx", (1, 1, 8, 8), "Identity", (1, 1, 8, 8)))
    assert grey.embed(red).shape == (1,)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_bytes(b"this is no model at all" * 20), "is not an ONNX model"),
        (lambda path: path.write_bytes(b""), "is not an ONNX model"),
        (lambda path: path.mkdir(), "there is no such file"),
        (lambda path: None, "there is no such file"),
        (lambda path: write_model(path, (1, 100)), "input is not one picture"),
        (lambda path: write_model(path, (1, 7, 8, 8)), "input is not one picture"),
        (lambda path: write_model(path, (1, 3, 100_000, 8)), "photos of 8 x 100,000 pixels; choose one"),
        (lambda path: write_model(path, operator="Add", out=(1, 3, 8, 10), inputs=2), "input is not one picture"),
        (lambda path: write_model(path, operator="NoSuchThing"), "is not an ONNX model"),
    ],
)
def test_a_file_that_is_no_such_model_is_said_so_in_one_sentence(tmp_path: Path, make, said: str, capfd) -> None:
    pytest.importorskip("onnxruntime")
    from crowdclust_app.io.onnx_model import EmbeddingModel

    path = tmp_path / "model.onnx"
    make(path)
    with pytest.raises(UserError, match=said) as caught:
        EmbeddingModel(path)
    assert str(path) in str(caught.value)
    assert capfd.readouterr() == ("", "")
