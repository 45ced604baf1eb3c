"""Scanning a folder: what becomes an item, what is left out, and why."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest
from PIL import Image

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.services.campaign.scanning import ScanReport, scan_images
from crowdclust_app.services.progress_report import ProgressReport


def picture(path: Path, colour: int = 0, size: tuple[int, int] = (8, 6)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (colour, 10, 20)).save(path)
    return path


def paths(report: ScanReport) -> list[str]:
    return [item.path for item in report.items]


def test_images_come_in_natural_order_from_all_folders(tmp_path: Path) -> None:
    names = ["b/img_10.png", "b/img_2.png", "IMG_3.PNG", "img_20.png", "a10/x.png", "a9/x.png"]
    for colour, name in enumerate(names):
        picture(tmp_path / name, colour)
    report = scan_images(tmp_path)
    assert paths(report) == ["a9/x.png", "a10/x.png", "b/img_2.png", "b/img_10.png", "IMG_3.PNG", "img_20.png"]
    assert [item.number for item in report.items] == list(range(6))


def test_an_item_knows_its_file(tmp_path: Path) -> None:
    file = picture(tmp_path / "a.png", 5, (30, 20))
    (item,) = scan_images(tmp_path).items
    assert (item.width, item.height, item.frames) == (30, 20, 1)
    assert item.byte_size == file.stat().st_size
    assert item.content_hash == hashlib.sha256(file.read_bytes()).hexdigest()


def test_the_first_of_equal_files_is_the_item(tmp_path: Path) -> None:
    original = picture(tmp_path / "img_2.png")
    for copy in ("img_10.png", "z/again.png", "img_3.png"):
        (tmp_path / copy).parent.mkdir(exist_ok=True)
        shutil.copy(original, tmp_path / copy)
    report = scan_images(tmp_path)
    assert paths(report) == ["img_2.png"]
    copies = ("img_3.png", "img_10.png", "z/again.png")
    assert report.duplicates == tuple((path, "img_2.png") for path in copies)
    assert report.warnings() == ("3 files are left out as copies of others, such as img_3.png of img_2.png.",)


def test_hidden_files_and_folders_are_left_out(tmp_path: Path) -> None:
    for colour, name in enumerate(["a.png", ".hidden.png", ".thumbs/b.png", "._a.png"]):
        picture(tmp_path / name, colour)
    report = scan_images(tmp_path)
    assert paths(report) == ["a.png"]
    assert report.unreadable == ()


def test_unreadable_images_are_listed_and_other_files_counted(tmp_path: Path) -> None:
    picture(tmp_path / "good.png")
    picture(tmp_path / "cut.jpg", size=(200, 200))
    data = (tmp_path / "cut.jpg").read_bytes()
    (tmp_path / "cut.jpg").write_bytes(data[: len(data) // 2])
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "page.gif").write_text("<!DOCTYPE html><html>not found</html>")
    (tmp_path / "words.tif").write_text("these are words")
    (tmp_path / "phone.HEIC").write_bytes(b"\0\0\0\x18ftypheic")
    (tmp_path / "wrong.jpg").write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0")
    (tmp_path / "notes.txt").write_text("notes")
    (tmp_path / "table").write_text("notes")
    report = scan_images(tmp_path)
    assert paths(report) == ["good.png"]
    assert report.others == 2
    assert dict(report.unreadable) == {
        "cut.jpg": "the picture is cut off: the file ends too early",
        "empty.png": "the file is empty",
        "page.gif": "it is a web page or text, not a picture",
        "phone.HEIC": "HEIC pictures cannot be read; save it as JPEG or PNG",
        "words.tif": "it is not a picture that this program knows, or its beginning is damaged",
        "wrong.jpg": "HEIC pictures cannot be read; save it as JPEG or PNG",
    }
    assert [path for path, _ in report.unreadable] == sorted(dict(report.unreadable))
    assert report.warnings() == (
        "6 images cannot be read and are left out, such as cut.jpg: the picture is cut off: the file ends too early.",
    )


def test_the_content_decides_what_a_picture_is(tmp_path: Path) -> None:
    picture(tmp_path / "a.png")
    (tmp_path / "a.png").rename(tmp_path / "a.jpg")
    assert paths(scan_images(tmp_path)) == ["a.jpg"]


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    picture(tmp_path / "images" / "b" / "1.png", 1)
    picture(tmp_path / "elsewhere" / "2.png", 2)
    root = tmp_path / "images"
    (root / "b" / "up").symlink_to(root, target_is_directory=True)
    (root / "b" / "itself").symlink_to(root / "b", target_is_directory=True)
    (root / "never").symlink_to(root / "never")
    (root / "nowhere.png").symlink_to(root / "missing.png")
    (root / "a_link").symlink_to(root / "b", target_is_directory=True)
    (root / "linked").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (root / "linked2").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    report = scan_images(root)
    assert paths(report) == ["b/1.png", "linked/2.png"]
    assert report.unreadable == (("nowhere.png", "the link leads nowhere"),)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    picture(tmp_path / "a.png")
    os.mkfifo(tmp_path / "pipe.png")
    assert scan_images(tmp_path).unreadable == (("pipe.png", "it is not a regular file"),)


def test_a_name_that_is_no_unicode_is_reported(tmp_path: Path) -> None:
    picture(tmp_path / "a.png")
    try:
        shutil.copy(tmp_path / "a.png", os.fsencode(tmp_path) + b"/caf\xe9.png")  # type: ignore[arg-type]
    except OSError:
        pytest.skip("this file system takes Unicode names only")
    report = scan_images(tmp_path)
    assert paths(report) == ["a.png"]
    assert report.unreadable == (("caf\\udce9.png", "its name is not valid Unicode; rename it"),)


@pytest.mark.parametrize("make", ["missing", "file", "empty", "texts", "unreadable"])
def test_a_folder_without_images_is_refused_in_one_sentence(tmp_path: Path, make: str) -> None:
    folder = tmp_path / "folder"
    expected = {
        "missing": "there is no such folder",
        "file": "this is a file, not a folder",
        "empty": "the folder is empty",
        "texts": "there is no image here, only 2 other files",
        "unreadable": "none of the 1 image can be read, such as a.png: the file is empty",
    }
    if make == "file":
        folder.write_text("x")
    elif make != "missing":
        folder.mkdir()
    if make == "texts":
        (folder / "a.txt").write_text("a")
        (folder / "b.csv").write_text("b")
    if make == "unreadable":
        (folder / "a.png").write_bytes(b"")
    with pytest.raises(UserError) as caught:
        scan_images(folder)
    assert caught.value.what == expected[make]
    assert caught.value.where == str(folder)


def test_progress_counts_every_file_once(tmp_path: Path) -> None:
    for colour in range(40):
        picture(tmp_path / f"{colour}.png", colour)
    reports: list[ProgressReport] = []
    scan_images(tmp_path, progress=reports.append)
    assert (reports[0].done, reports[0].total) == (0, None)
    assert [report.done for report in reports[1:]] == list(range(1, 41))
    assert {report.total for report in reports[1:]} == {40}
    assert reports[3].text == "Reading 2.png"


def test_scanning_stops_between_files_when_asked(tmp_path: Path) -> None:
    for colour in range(60):
        picture(tmp_path / f"{colour}.png", colour)
    cancel = CancelToken()
    seen: list[int] = []

    def stop_at_three(report: ProgressReport) -> None:
        seen.append(report.done)
        if report.done == 3:
            cancel.cancel()

    with pytest.raises(Cancelled):
        scan_images(tmp_path, progress=stop_at_three, cancel=cancel)
    assert seen == [0, 1, 2, 3]


def test_two_scans_give_the_same_report(tmp_path: Path) -> None:
    for number in range(50):
        picture(tmp_path / f"{number % 5}" / f"{number}.png", number // 2)
    assert scan_images(tmp_path) == scan_images(tmp_path)


def test_real_photos_are_all_readable(shared_data: Path) -> None:
    for collection in ("trash6", "signs10"):
        folder = shared_data / "images" / collection
        report = scan_images(folder)
        assert len(report.items) + len(report.duplicates) == len(list(folder.rglob("*.jpg")))
        assert report.unreadable == ()
