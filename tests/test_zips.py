"""Zips of students and of a class are unpacked within limits, or reported in a row."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hand_ins import METADATA, RIGHT, class_of, graded, rows, zipped

from autograder.classroom.archives import OF_A_STUDENT, ArchiveError, Bounds, unpack
from autograder.classroom.class_folder import find_work
from autograder.classroom.hand_in_files import MOST_ZIPS
from autograder.submission import MAX_BYTES

pytestmark = pytest.mark.slow


def test_a_students_zip_is_opened(tmp_path: Path) -> None:
    class_of(tmp_path / "in", "work/ch06_vjps.ipynb", "__MACOSX/._ch06_vjps.ipynb", "notes.docx")
    for where in ("class/ann/my work.zip", "class/bob.zip"):
        (tmp_path / where).parent.mkdir(parents=True, exist_ok=True)
        zipped(tmp_path / "in", tmp_path / where)
    found = find_work(tmp_path / "class", scratch=tmp_path / "scratch")
    assert graded(found) == {(who, "ch06_vjps"): "ch06_vjps.ipynb" for who in ("ann", "bob")}
    assert set(rows(found)) == {"ann/my work.zip/notes.docx", "bob/bob.zip/notes.docx"}


def hostile_zip(file: Path) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ch06_vjps.py", RIGHT)
        for name in ("../up.py", "/abs.py", "a/../../b.py", "C:/c.py", "..\\win.py", "d/" * 40 + "deep.py"):
            archive.writestr(name, "x")
        link = zipfile.ZipInfo("ch07_mlp_backprop.py")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr(zipfile.ZipInfo("x" * 300 + ".py"), "x")
        archive.writestr("ch06_vjps.py/inside.py", "x")
        packed = zipfile.ZipInfo("lzma.py")
        packed.compress_type = zipfile.ZIP_LZMA
        archive.writestr(packed, "x")
        archive.writestr("large.py", b"\0" * (MAX_BYTES + 10**6))


def test_a_hostile_zip_writes_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "class" / "ann").mkdir(parents=True)
    hostile_zip(tmp_path / "class" / "ann" / "work.zip")
    before = set(tmp_path.rglob("*"))
    found = find_work(tmp_path / "class", scratch=tmp_path / "scratch")
    assert graded(found) == {("ann", "ch06_vjps"): "ch06_vjps.py"}
    assert len(rows(found)) == 11
    written = {path for path in tmp_path.rglob("*") if path not in before}
    assert all(path.is_relative_to(tmp_path / "scratch") for path in written)
    assert not any(path.is_symlink() for path in written)
    files = {path.name: path.stat().st_size for path in written if path.is_file()}
    assert files == {"ch06_vjps.py": len(RIGHT), "large.py": MAX_BYTES + 1}


def of_zeros(file: Path) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(12):
            archive.writestr(f"{i}.py", b"\0" * MAX_BYTES)


def of_many(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for i in range(OF_A_STUDENT.entries + 1):
            archive.writestr(f"{i}.py", "")


def encrypted(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.py", "x")
    data = bytearray(file.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    file.write_bytes(data)


def damaged(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("ch06_vjps.py", RIGHT)
    file.write_bytes(file.read_bytes().replace(b"relu", b"rely", 1))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (of_zeros, "larger than the limit when it is unpacked"),
        (of_many, "501 entries, and 500 are the limit"),
        (encrypted, "it is encrypted"),
        (damaged, "it cannot be unpacked (Bad CRC-32"),
        (lambda file: file.write_bytes(b"PK"), "this is no zip that can be unpacked"),
        (
            lambda file: os.truncate(file, 41 * 2**20) if file.touch() is None else None,
            "the archive has 41 MiB, and 40",
        ),
        (lambda file: zipped(file.parent / "none", file), "there is no file in the archive"),
        (lambda file: file.mkdir(), ""),
    ],
    ids=["large", "many", "encrypted", "damaged", "no zip", "too large a file", "empty", "a folder"],
)
def test_zips_that_are_not_opened_are_rows(tmp_path: Path, make: Callable[[Path], object], why: str) -> None:
    (tmp_path / "class" / "ann").mkdir(parents=True)
    make(tmp_path / "class" / "ann" / "work.zip")
    found = find_work(tmp_path / "class", scratch=tmp_path / "scratch")
    assert found.work == []
    assert any(why in told for told in rows(found).values()) == bool(why)
    assert not list((tmp_path / "scratch").rglob("ch06*"))


def test_all_zips_of_a_student_share_the_room_of_one(tmp_path: Path) -> None:
    folder = tmp_path / "class" / "ann"
    folder.mkdir(parents=True)
    for i in range(MOST_ZIPS + 1):
        with zipfile.ZipFile(folder / f"{i:02}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(".hidden", b"\0" * MAX_BYTES)  # nobody looks at it, and it fills the disk
    class_of(tmp_path / "class", "bob/ch06_vjps.py")
    zipped(tmp_path / "class" / "bob", tmp_path / "class" / "bob" / "work.zip")
    found = find_work(tmp_path / "class", scratch=tmp_path / "scratch")
    written = sum(path.stat().st_size for path in (tmp_path / "scratch").rglob("*"))
    assert written < OF_A_STUDENT.total_bytes + MAX_BYTES
    told = rows(found)
    assert "larger than the limit" in told["ann/10.zip"]
    assert f"more than {MOST_ZIPS} zips" in told[f"ann/{MOST_ZIPS}.zip"]
    assert ("bob", "ch06_vjps") in graded(found)
    assert any("work.zip/ch06_vjps.py" in name for name in told), "bob's zip was opened"


def test_a_class_and_its_students_zips_are_unpacked_apart(tmp_path: Path) -> None:
    class_of(tmp_path / "in", "ann/ch06_vjps.py", "bob/notes.md", "bob/other/ch07_mlp_backprop.py")
    zipped(tmp_path / "in" / "bob" / "other", tmp_path / "in" / "bob" / "work.zip")
    file = zipped(tmp_path / "in", tmp_path / "zip-1.zip")
    found = find_work(file, scratch=tmp_path / "scratch")
    assert set(graded(found)) == {("ann", "ch06_vjps"), ("bob", "ch07_mlp_backprop")}


@pytest.mark.parametrize("around", ["", "assignment_9_export/"])
def test_what_of_a_class_s_zip_cannot_be_unpacked_is_a_row(tmp_path: Path, around: str) -> None:
    """It used to be a line that no report contained, with exit status 0."""
    long = "x" * 300 + ".ipynb"
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        for name in ("submission_1/ch06_vjps.py", f"submission_2/{long}", "submission_3/../up.py", "__MACOSX/" + long):
            archive.writestr(around + name, RIGHT)
        archive.writestr(around + "submission_metadata.yml", METADATA)
        link = zipfile.ZipInfo(around + "submission_1/ch07_mlp_backprop.py")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    found = find_work(tmp_path / "class.zip", scratch=tmp_path / "scratch", export=bool(around) or None)
    told = rows(found)
    assert "cannot be unpacked (File name too long)" in told["student .._.._bob/" + long]
    assert "33/" + long in told
    assert told["ann@example.edu/ch07_mlp_backprop.py"] == "a link or a device, and no file"
    assert "leads out of the archive" in told["(unknown)/submission_3/../up.py"]
    assert len(found.not_recognised) == 4, "each once, though Gradescope lists a folder that is not there"
    assert len(found.remarks) == 1, "what a system put there is no hand-in"


def test_an_archive_in_an_archive_is_a_row(tmp_path: Path) -> None:
    class_of(tmp_path / "in", "ch06_vjps.py")
    zipped(tmp_path / "in", tmp_path / "in" / "inner.zip")
    (tmp_path / "class" / "ann").mkdir(parents=True)
    zipped(tmp_path / "in", tmp_path / "class" / "ann" / "outer.zip")
    found = find_work(tmp_path / "class", scratch=tmp_path / "scratch")
    assert len(found.work) == 1
    assert "an archive in an archive" in rows(found)["ann/outer.zip/inner.zip"]


def test_a_class_that_is_too_large_is_refused(tmp_path: Path) -> None:
    class_of(tmp_path / "in", "a.py", "b.py")
    file = zipped(tmp_path / "in", tmp_path / "class.zip")
    for bounds in (Bounds(10, 9, 9999), Bounds(9999, 1, 9999), Bounds(9999, 9, 10)):
        with pytest.raises(ArchiveError, match="limit"):
            unpack(file, tmp_path / "out" / str(bounds.entries), bounds)
