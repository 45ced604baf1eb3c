"""Turn a report, written as HTML for print, into a PDF file; may be called from a job's thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMarginsF, QRectF, QSizeF, Qt, QThread
from PySide6.QtGui import QFont, QPageLayout, QPageSize, QPainter, QPdfWriter, QTextDocument

from crowdclust_app.domain.errors import UserError

_DOTS = 144
_MARGIN = 18.0  # millimetres
_FOOT = 24.0  # dots at 96 an inch, for the page's number


def write_pdf(html: str, path: Path) -> None:
    """Lay a report out on pages of A4, numbered at the foot.

    Parameters
    ----------
    html
        From `report_html(report, for_print=True)`.
    path
        The file; its folder must exist.

    Raises
    ------
    UserError
        When it cannot be written.
    """
    thread = _Laying(html, path)
    thread.start()
    thread.wait()
    if thread.error is not None:
        raise thread.error


class _Laying(QThread):
    """A thread of Qt's own: laying text out starts timers, which a thread of Python's has no place for."""

    def __init__(self, html: str, path: Path) -> None:
        super().__init__()
        self._html, self._path = html, path
        self.error: Exception | None = None

    def run(self) -> None:
        """Write the file; what goes wrong is kept for who waits."""
        try:
            _write(self._html, self._path)
        except Exception as error:  # noqa: BLE001 - raised again by write_pdf
            self.error = error


def _write(html: str, path: Path) -> None:
    writer = QPdfWriter(str(path))
    writer.setResolution(_DOTS)
    writer.setCreator("Crowdclust")
    layout = QPageLayout(
        QPageSize(QPageSize.PageSizeId.A4),
        QPageLayout.Orientation.Portrait,
        QMarginsF(_MARGIN, _MARGIN, _MARGIN, _MARGIN),
        QPageLayout.Unit.Millimeter,
    )
    writer.setPageLayout(layout)
    document = QTextDocument()
    document.setDocumentMargin(0)
    document.setDefaultFont(QFont("sans-serif", 10))
    document.setHtml(html)
    # The document is laid out at 96 dots an inch, as the sizes in it are meant, and scaled onto the page.
    scale = _DOTS / 96.0
    page = QSizeF(writer.width() / scale, writer.height() / scale)
    document.setPageSize(QSizeF(page.width(), page.height() - _FOOT))
    writer.setTitle(document.metaInformation(QTextDocument.MetaInformation.DocumentTitle))
    painter = QPainter()
    if not painter.begin(writer):
        raise UserError("the PDF file cannot be written", where=str(path), todo="choose another place")
    try:
        painter.scale(scale, scale)
        _draw_pages(document, writer, painter, page)
    finally:
        painter.end()


def _draw_pages(document: QTextDocument, writer: QPdfWriter, painter: QPainter, page: QSizeF) -> None:
    height = page.height() - _FOOT
    count = document.pageCount()
    foot_font = QFont("sans-serif")
    foot_font.setPixelSize(11)  # of the document's dots
    painter.setFont(foot_font)
    for number in range(count):
        if number:
            writer.newPage()
        painter.save()
        painter.translate(0, -number * height)
        document.drawContents(painter, QRectF(0, number * height, page.width(), height))
        painter.restore()
        foot = QRectF(0, height, page.width(), _FOOT)
        painter.drawText(foot, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom, f"{number + 1} / {count}")
