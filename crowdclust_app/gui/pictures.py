"""Pictures on screen: decoded in the decode lane, kept as pixmaps within a bound of bytes."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage, QPixmap

from crowdclust_app.domain.errors import UserError
from crowdclust_app.gui.jobs import Job, Jobs

BUDGET_BYTES = 256 * 1024 * 1024
# Pixels of the longest side that are decoded; the next larger one is scaled down while painting.
SIZES = (96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)

Key = tuple[str, int, float]


def decoded_size(side: int, ratio: float) -> int:
    """Pixels of the longest side to decode for `side` pixels of the window at this device pixel ratio."""
    wanted = side * ratio
    return next((size for size in SIZES if size >= wanted), SIZES[-1])


def read_image(path: Path, longest_side: int) -> QImage:
    """Decode one picture into the format that is painted fastest; runs on a thread of the decode lane."""
    # the first window is shown before Pillow is loaded
    from crowdclust_app.services.annotate.pictures import load_picture

    pixels = load_picture(path, longest_side).pixels
    height, width = pixels.shape[:2]
    image = QImage(pixels.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888)
    # the conversion copies, so the image does not hold on to the bytes above
    return image.convertToFormat(QImage.Format.Format_RGB32)


class PictureCache(QObject):
    """Pixmaps by (content hash or path, size, device pixel ratio); the least recently used go first.

    Signals
    -------
    arrived : str
        Content hash (or path) of a picture that was loaded, or that could not be.
    """

    arrived = Signal(str)

    def __init__(self, jobs: Jobs, budget: int = BUDGET_BYTES, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._budget = budget
        self._bytes = 0
        self._kept: OrderedDict[Key, QPixmap] = OrderedDict()
        self._failed: dict[str, str] = {}
        self._coming: dict[Key, Job] = {}

    @property
    def waiting(self) -> int:
        """Pictures that were asked for and are not here yet."""
        return len(self._coming)

    def pixmap(self, path: Path, content_hash: str | None, side: int, ratio: float = 1.0) -> QPixmap | None:
        """The picture for `side` logical pixels, or None while it is being loaded; `arrived` is emitted later.

        Safe to call while painting: it never decodes. Until the right size is here, another size of the same picture
        is returned if there is one.
        """
        name = content_hash or str(path)
        key = (name, decoded_size(side, ratio), ratio)
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        if name in self._failed:
            return None
        self._load(path, key)
        others = [other for other in self._kept if other[0] == name]
        return self._kept[max(others, key=lambda other: other[1])] if others else None

    def is_exact(self, path: Path, content_hash: str | None, side: int, ratio: float = 1.0) -> bool:
        """Whether `pixmap` would return the right size and not a stand-in."""
        return (content_hash or str(path), decoded_size(side, ratio), ratio) in self._kept

    def failure(self, path: Path, content_hash: str | None) -> str:
        """Why the picture cannot be shown; "" if it can, or is not known yet."""
        return self._failed.get(content_hash or str(path), "")

    def drop_waiting(self) -> None:
        """Forget what was asked for and not begun: the screen that wanted it is gone."""
        for job in self._coming.values():
            job.cancel()
        self._coming.clear()

    def clear(self) -> None:
        """Drop everything, failures too: another campaign, or images that were found again."""
        self.drop_waiting()
        self._kept.clear()
        self._failed.clear()
        self._bytes = 0

    def _load(self, path: Path, key: Key) -> None:
        if key in self._coming:
            return

        def done(image: QImage) -> None:
            self._coming.pop(key, None)
            pixmap = QPixmap.fromImage(image)
            pixmap.setDevicePixelRatio(key[2])
            self._keep(key, pixmap)
            self.arrived.emit(key[0])

        def failed(error: BaseException) -> None:
            self._coming.pop(key, None)
            self._failed[key[0]] = error.what if isinstance(error, UserError) else (str(error) or type(error).__name__)
            self.arrived.emit(key[0])

        self._coming[key] = self._jobs.start(
            "decode", lambda _progress, _token: read_image(path, key[1]), on_done=done, on_failed=failed, owner=self
        )

    def _keep(self, key: Key, pixmap: QPixmap) -> None:
        self._kept[key] = pixmap
        self._bytes += pixmap.width() * pixmap.height() * 4
        while self._bytes > self._budget and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= dropped.width() * dropped.height() * 4
