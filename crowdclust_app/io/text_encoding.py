"""Which text the bytes of a table are: UTF-8 and UTF-16 for certain, older encodings of Western Europe where only one
of them gives plausible words.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from crowdclust_app.domain.errors import UserError

_SAVE_AS = "save it as 'CSV UTF-8'"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Windows and the old Macintosh in Western Europe.
_OLDER = {"cp1252": "Windows-1252", "mac_roman": "Mac Roman"}
_WORD = re.compile(r"[^\s,;\t|\"]*[^\x00-\x7f\s][^\s,;\t|\"]*")
# What Western European words are written with, and the signs that stand before, after and between them.
_LETTERS = frozenset("äöüßáàâãåæçéèêëíìîïñóòôõøœúùûšž")
_BEFORE, _AFTER, _BETWEEN = frozenset("‘“„«¿¡"), frozenset("’”“»…€°²³®©™½¼"), frozenset("’–—·×\xa0")


def decode_table(data: bytes, path: Path) -> tuple[bytes, tuple[str, ...]]:
    """Find the text of a table.

    Parameters
    ----------
    data
        All bytes of the file.
    path
        Named in errors.

    Returns
    -------
    tuple of bytes and tuple of str
        The text as UTF-8, and sentences about an encoding that was inferred.

    Raises
    ------
    UserError
        When it is no text, or in an encoding that is not certain.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), None) or _unmarked(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            what = f"is not whole {encoding.removesuffix('-sig').upper()} text"
            raise UserError(what, where=str(path), todo=_SAVE_AS) from error
        return _older(data, path, _line_at(data[: error.start]))
    if "\0" in text:
        line = _line_at(text[: text.index("\0")].encode())
        raise UserError("has NUL bytes and is not text", where=f"{path}, line {line}", todo="save it again as CSV")
    return data if encoding.startswith("utf-8") else text.encode(), ()


def _line_at(before: bytes) -> int:
    return len(re.findall(b"\r\n?|\n", before)) + 1


def _unmarked(data: bytes) -> str:
    """UTF-16 without a mark is known by its zeros; everything else is UTF-8 until shown otherwise."""
    start = data[:200]
    if len(start) > 3:
        for zeros, encoding in ((start[1::2], "utf-16-le"), (start[::2], "utf-16-be")):
            if zeros.count(0) > len(start) * 0.4:
                return encoding
    return "utf-8"


def _older(data: bytes, path: Path, line: int) -> tuple[bytes, tuple[str, ...]]:
    found = {}
    for encoding in _OLDER:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if _plausible(text):
            found[encoding] = text
    if "mac_roman" in found and b"\r" in data and b"\n" not in data:
        found = {"mac_roman": found["mac_roman"]}  # only Macs end lines so
    if len(found) != 1:
        what = "is not UTF-8 text (an older encoding such as Latin-1, perhaps)"
        if found:
            words = (f"{_OLDER[encoding]} ({_example(text)})" for encoding, text in found.items())
            what = f"is not UTF-8 text and could be {' or '.join(words)}"
        raise UserError(what, where=f"{path}, line {line}", todo=_SAVE_AS)
    ((encoding, text),) = found.items()
    return text.encode(), (f"It is not UTF-8 and was read as {_OLDER[encoding]}, such as {_example(text)}.",)


def _example(text: str) -> str:
    word = _WORD.search(text)
    return word[0] if word else ""


def _plausible(text: str) -> bool:
    """Whether words with accents look like words: usual letters, capitals where words begin, signs around them."""
    return all(map(_plausible_word, set(_WORD.findall(text))))


def _plausible_word(word: str) -> bool:
    accented = [letter for letter in word if not letter.isascii() and letter.isalpha()]
    if 2 * len(accented) > len(word) + 1:
        return False  # another alphabet
    for at, letter in enumerate(word):
        before, after = word[at - 1 : at] if at else "", word[at + 1 : at + 2]
        if letter.isascii():
            continue
        if letter.lower() in _LETTERS:
            if letter.isupper() and (before.islower() or (before.isalpha() and after.islower())):
                return False
        elif not (
            (letter in _BEFORE and after.isalnum() and not before.isalnum())
            or (letter in _AFTER and not after.isalpha())
            or (letter in _BETWEEN and bool(before) == bool(after))
            or (letter == "’" and before)
        ):
            return False
    return True
