"""One normal form for names, and what is missing."""

from __future__ import annotations

import unicodedata

import pytest

from crowdclust_app.domain.names import Names, class_key, is_missing, path_key, truth_value, twins_sentence


@pytest.mark.parametrize(
    "written",
    ["Bär 1", " Bär 1", "Bär 1\u00a0", "\ufeffBär 1", "Bär\u00a01", "Bär 1\t", "\u200bBär 1",
     unicodedata.normalize("NFD", "Bär 1")],
)  # fmt: skip
def test_what_cannot_be_seen_makes_no_other_name(written: str) -> None:
    assert Names(["Bär 1"])(written) == "Bär 1"


@pytest.mark.parametrize("written", ["cats\\1.png", "./cats/1.png", "cats//1.png", ".\\cats\\1.png", "cats/1.png "])
def test_a_path_may_be_written_as_other_systems_do(written: str) -> None:
    assert Names(["cats/1.png"], key=path_key)(written) == "cats/1.png"


def test_a_name_stays_as_it_was_first_written() -> None:
    decomposed = unicodedata.normalize("NFD", "Bär")
    names = Names()
    assert names(decomposed) == decomposed
    assert names("Bär") == decomposed
    assert names("5.0") == "5.0"
    assert names("5") == "5.0"
    assert names("05") == "05"


def test_of_two_names_with_one_form_each_is_found_by_its_own_spelling() -> None:
    decomposed = unicodedata.normalize("NFD", "Bär")
    names = Names(["Bär", decomposed])
    assert (names("Bär"), names(decomposed), names(" Bär")) == ("Bär", decomposed, " Bär")


def test_copies_are_found_by_the_names_that_they_have() -> None:
    names = Names(["a/1.png"], {"b/2.png": "a/1.png"}, path_key)
    assert names("b\\2.png") == "a/1.png"
    assert names("a/1.png") == "a/1.png"
    assert names.met_copies == {"b\\2.png": "a/1.png"}


def test_names_that_differ_only_in_letter_case_are_two_and_named() -> None:
    names = Names(["Ann"])
    assert [names(text) for text in ("ann", "Ben", "ANN")] == ["ann", "Ben", "ANN"]
    assert names.alike("ann") == "Ann"
    assert names.alike("Ben") is None
    assert twins_sentence("The workers", names) == (
        "The workers Ann and ann and ANN differ only in letter case and count as different.",
    )
    assert twins_sentence("The workers", Names(["Ann", "ann"])) == ()


@pytest.mark.parametrize("one", ["1", "1.0", "1,0", " 1 ", "1.00"])
def test_a_class_is_the_same_however_its_number_is_written(one: str) -> None:
    assert class_key(one) == "1"
    assert class_key("0,5") == class_key("0.5")
    assert class_key("1.5") != class_key("1")


@pytest.mark.parametrize("cell", ["", " ", "\u00a0", "NA", "N/A", "#N/A", "NaN", "nan", "None", "NULL", "null", "-",
                                  ".", "<NA>", " NA "])  # fmt: skip
def test_missing(cell: str) -> None:
    assert is_missing(cell)


@pytest.mark.parametrize("cell", ["0", "no", "NAN1", "n", "--a", "nab", "..", "Nina", "Na", "Nan"])
def test_not_missing(cell: str) -> None:
    assert not is_missing(cell)


def test_words_for_yes_and_no() -> None:
    assert [truth_value(word) for word in ("TRUE", "1.0", "Ja", "WAHR", "oui")] == [True] * 5
    assert [truth_value(word) for word in ("False", "0", "nein", "FAUX", "-1")] == [False] * 5
    assert truth_value("maybe") is None
