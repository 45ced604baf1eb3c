r"""One normal form for names of items, tasks, workers, HITs, groups and categories, wherever they come from.

Two spellings are one name when they differ only in outer white space, in the kind of white space inside, in how accents
are encoded (NFC, NFD), or in a decimal part that is zero (`5.0`, as data frames write 5); for items also in `\` for `/`
and a leading `./`. A name stays as it was first written. Letter case counts, but names that differ in nothing else are
named, because they are hardly ever meant to be two.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

# All white space, and what is as invisible: zero-width spaces, direction marks, byte order marks.
_BLANK = "".join(map(chr, (*range(9, 14), *range(28, 33), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200C), 0x200E, 0x200F,
                           0x2028, 0x2029, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF)))  # fmt: skip
_SPACES = str.maketrans(dict.fromkeys("\u00a0\u2007\u202f", " "))
_WHOLE = re.compile(r"([+-]?\d+)[.,]0+")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
# `Na` and `Nan` are names of people
_MISSING = frozenset(
    {"NA", "na", "N/A", "n/a", "#N/A", "#n/a", "#NA", "<NA>", "N.A.", "n.a.", "NaN", "nan", "NAN", "-nan", "-NaN"}
    | {"None", "none", "NONE", "NULL", "null", "Null", "#NV", "#NULL!", ".", "-", "--", "\N{EN DASH}", "\N{EM DASH}"}
)
_YES = frozenset(
    {"yes", "y", "1", "+1", "true", "t", "ja", "j", "wahr", "oui", "o", "vrai", "si", "sí", "s"}
    | {"verdadero", "vero", "sim", "verdadeiro"}
)
_NO = frozenset({"no", "n", "0", "-1", "false", "f", "nein", "falsch", "non", "faux", "falso", "não"})


def spelled(text: str) -> str:
    """Take the outer white space off, also what is invisible."""
    if text.isascii():
        return text.strip()
    return text.strip(_BLANK)


def says_missing(text: str) -> bool:
    """Whether a text without outer white space is empty or says so: NA, NaN, None, NULL, N/A, #N/A, `-`, `.`."""
    return not text or text in _MISSING


def is_missing(text: str) -> bool:
    """The same of any text."""
    return says_missing(spelled(text))


def with_point(text: str) -> str:
    """A number that is written with a decimal comma, with a point; other text as it is."""
    return text.replace(",", ".") if "," in text and _DECIMAL_COMMA.fullmatch(text) else text


def name_key(text: str) -> str:
    """What two spellings of a name have in common."""
    text = spelled(text)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_SPACES)
    whole = _WHOLE.fullmatch(text) if text.endswith("0") else None
    return whole[1] if whole else text


def path_key(text: str) -> str:
    """What two spellings of an item's path have in common."""
    text = name_key(text)
    if "\\" in text or "//" in text or text.startswith("./"):
        text = re.sub(r"^(\./+)+|(?<=/)/+", "", text.replace("\\", "/"))
    return text


def class_key(text: str) -> str:
    """What two spellings of a class or category have in common; `0,5` is `0.5`."""
    return name_key(with_point(spelled(text)))


def truth_value(text: str) -> bool | None:
    """What a word for yes or no says, in the languages that spreadsheets write; None for any other."""
    word = class_key(text).casefold()
    return True if word in _YES else False if word in _NO else None


class _Spellings(dict[str, str]):
    """Names by spellings that were asked for."""

    def __init__(self, resolve: Callable[[str], str], known: Mapping[str, str]) -> None:
        super().__init__(known)
        self._resolve = resolve

    def __missing__(self, text: str) -> str:
        name = self[text] = self._resolve(text)
        return name


class Names:
    r"""Names by any of their spellings.

    Parameters
    ----------
    known
        Names that exist; of two with the same normal form each is only found by its exact spelling.
    copies
        Other names of some of these, such as the paths of files with the same bytes.
    key
        Normal form of a name: `name_key`, `path_key` or `class_key`.

    Attributes
    ----------
    met_copies
        Names of copies that were asked for, with the name of the original.
    find
        The same as calling it, for many rows.

    Examples
    --------
    >>> names = Names(["cats/1.png"], {"more/1.png": "cats/1.png"}, path_key)
    >>> names("cats\\1.png "), names("more/1.png"), names("new.png")
    ('cats/1.png', 'cats/1.png', 'new.png')
    """

    def __init__(
        self, known: Iterable[str] = (), copies: Mapping[str, str] | None = None, key: Callable[[str], str] = name_key
    ) -> None:
        self.copies = copies or {}
        self.met_copies: dict[str, str] = {}
        self._key = key
        self._name = _Spellings(self._resolve, {name: name for name in known})
        self.find: Callable[[str], str] = self._name.__getitem__
        self._by_key: dict[str, str | None] = {}
        for written, name in (*self.copies.items(), *self._name.items()):
            form = key(written)
            self._by_key[form] = name if self._by_key.get(form, name) == name else None
        self._old = frozenset(self._by_key)
        self._forms_of_copies = frozenset(map(key, self.copies))

    def __call__(self, text: str) -> str:
        """The name that is spelled so; a new one is itself."""
        return self._name[text]

    def _resolve(self, text: str) -> str:
        form = self._key(text)
        name = self.copies.get(text) or self._by_key.setdefault(form, text) or text
        if form in self._forms_of_copies and name != text:
            self.met_copies[text] = name
        return name

    def knows(self, text: str) -> bool:
        """Whether this spells one of the known names or of their copies."""
        return self._key(text) in self._old

    def alike(self, text: str) -> str | None:
        """A known name that differs only in letter case or spelling, if there is one."""
        name = self._by_letters.get(self._key(text).casefold())
        return name if name != text else None

    @cached_property
    def _by_letters(self) -> dict[str, str]:
        return {form.casefold(): name for form, name in self._by_key.items() if name is not None and form in self._old}

    def twins(self) -> list[tuple[str, ...]]:
        """Names that differ only in letter case, together; of known ones those that a new name is like."""
        together: dict[str, dict[str, None]] = {}
        for form, name in self._by_key.items():
            if name is not None:
                together.setdefault(form.casefold(), {})[name] = None
        new = {form.casefold() for form in self._by_key.keys() - self._old}
        return [tuple(names) for form, names in together.items() if len(names) > 1 and form in new]


def twins_sentence(noun: str, names: Names) -> tuple[str, ...]:
    """Name those that differ only in letter case; nothing when there are none."""
    twins = names.twins()
    if not twins:
        return ()
    more = f", and {len(twins) - 1:,} more of this kind" if len(twins) > 1 else ""
    return (f"{noun} {' and '.join(twins[0])} differ only in letter case and count as different{more}.",)
