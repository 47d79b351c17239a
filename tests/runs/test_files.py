"""Files that are complete or absent, whoever writes them."""

import os

from jaxgames.runs import files


def test_two_that_write_one_file_leave_that_of_one(tmp_path, monkeypatch):
    """The second writes all of it while the first waits for the disk; names may be as long as the system lets them."""
    path, fsync = tmp_path / ("x" * 255), os.fsync

    def other_first(descriptor):
        monkeypatch.setattr(os, "fsync", fsync)
        files.replace(path, b"of the second")
        assert path.read_bytes() == b"of the second"
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", other_first)
    files.replace(path, b"of the first one")
    assert path.read_bytes() == b"of the first one" and list(tmp_path.iterdir()) == [path]


def test_what_a_killed_writer_leaves_is_removed(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda temporary, path: (tmp_path / "copy").write_text(temporary.name))
        files.replace(tmp_path / "a", b"whole")
    (tmp_path / (tmp_path / "copy").read_text()).write_bytes(b"ha")
    files.remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]


def test_a_link_stays_one_and_so_does_who_may_read(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to(file)
    files.replace(link, b"new")
    assert link.is_symlink() and file.read_bytes() == b"new" and file.stat().st_mode & 0o777 == 0o640
