"""Files are written completely or not at all."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from graspel.io.atomic import check_target, write_atomically


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "result.txt"
    path.write_text("old")
    return path


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_success_replaces_the_file_and_leaves_nothing_else(old):
    with write_atomically(old) as temporary:
        assert temporary.parent == old.parent
        assert not temporary.exists()
        temporary.write_text("new")
        assert old.read_text() == "old"
    assert contents(old.parent) == {"result.txt": "new"}


@pytest.mark.parametrize("name", ["graph.npz", "graph.csv.gz", "noext", ".hidden", "v1.2 ü.mtx", "x" * 200 + ".npz"])
def test_any_name_and_the_suffix_stays(tmp_path, name):
    with write_atomically(tmp_path / name) as temporary:
        assert temporary.suffix == (tmp_path / name).suffix
        temporary.write_text("new")
    assert contents(tmp_path) == {name: "new"}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError, GeneratorExit])
@pytest.mark.parametrize("written", [True, False])
def test_failure_keeps_the_old_file_and_leaves_nothing_else(old, error, written):
    with pytest.raises(error), write_atomically(old) as temporary:  # noqa: PT012
        if written:
            temporary.write_text("half of the n")
        raise error
    assert contents(old.parent) == {"result.txt": "old"}


def test_failure_without_an_old_file_leaves_an_empty_folder(tmp_path):
    with pytest.raises(KeyboardInterrupt), write_atomically(tmp_path / "new.txt") as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise KeyboardInterrupt
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_full_disk_keeps_the_old_file(old, monkeypatch, function):
    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, function, full)
    with pytest.raises(OSError, match=r"result.txt: could not be written, the disk is full.*unchanged.*Free") as caught:  # noqa: SIM117
        with write_atomically(old) as temporary:
            temporary.write_text("new")
    assert caught.value.errno == errno.ENOSPC
    assert contents(old.parent) == {"result.txt": "old"}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_full_disk_as_the_system_reports_it(old):
    with pytest.raises(OSError, match="the disk is full"), write_atomically(old):  # noqa: SIM117
        with open("/dev/full", "w") as device:
            device.write("x")
    assert contents(old.parent) == {"result.txt": "old"}


def test_missing_folder_is_named(tmp_path):
    path = tmp_path / "none" / "result.txt"
    with pytest.raises(FileNotFoundError, match=r"the folder .*none does not exist. Create it"):  # noqa: SIM117
        with write_atomically(path):
            pytest.fail("nothing may be computed for a file that cannot be written")
    assert contents(tmp_path) == {}


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"is a folder, not a file. Give the name"):
        check_target(tmp_path)


def test_a_device_is_not_replaced():
    with pytest.raises(OSError, match="device"):
        check_target(os.devnull)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="not writable"):
        check_target(tmp_path / "result.txt")
    tmp_path.chmod(0o700)


def test_a_link_stays_a_link(old):
    link = old.parent / "link.txt"
    try:
        link.symlink_to(old)
    except OSError:
        pytest.skip("no symbolic links here")
    with write_atomically(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert old.read_text() == "new"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_new_files_follow_the_umask_and_old_ones_keep_their_mode(old):
    before = os.umask(0o027)
    try:
        new = old.parent / "new.txt"
        with write_atomically(new) as temporary:
            temporary.write_text("new")
        old.chmod(0o604)
        with write_atomically(old) as temporary:
            temporary.write_text("new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    assert stat.S_IMODE(old.stat().st_mode) == 0o604


def test_a_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with write_atomically("result.txt") as temporary:
        temporary.write_text("new")
    assert contents(tmp_path) == {"result.txt": "new"}


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_link_into_a_missing_folder_names_that_folder(tmp_path, monkeypatch, linked):
    monkeypatch.chdir(tmp_path)
    missing = tmp_path / "a b"
    if linked == "file":
        os.symlink(missing / "graph.npz", "graph.npz")
    else:
        os.symlink(missing, "out")
    with pytest.raises(FileNotFoundError) as caught:
        check_target("graph.npz" if linked == "file" else "out/graph.npz")
    assert f"the folder {missing} does not exist. Create it (mkdir -p '{missing}')" in str(caught.value)
