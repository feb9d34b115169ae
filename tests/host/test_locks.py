import fcntl
import getpass
import multiprocessing
import os
import re

import pytest

from stepgrid.host.locks import LockBusy, LockFileError, lock_holders, locked


def test_a_lock_excludes_and_names_its_holder(tmp_path):
    path = tmp_path / "locks" / "run"
    with locked(path):
        assert lock_holders(path) == [os.getpid()]
        with pytest.raises(LockBusy) as busy, locked(path, wait=False):
            pass
        assert busy.value.holders == [os.getpid()]
    assert lock_holders(path) == []
    with locked(path, wait=False):
        pass


def test_shared_locks_exclude_exclusive_ones_only(tmp_path):
    path = tmp_path / "lock"
    both = locked(path, shared=True), locked(path, shared=True, wait=False)
    with both[0], both[1], pytest.raises(LockBusy), locked(path, wait=False):
        pass


def test_a_lock_ends_with_its_block_also_by_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "lock"):
        raise ZeroDivisionError
    with locked(tmp_path / "lock", wait=False):
        pass


def test_a_removed_file_protects_nothing_so_its_successor_is_locked(tmp_path):
    path = tmp_path / "lock"

    def replaced(_):
        path.unlink()
        path.touch()
        first.close()

    first = path.open("w")
    fcntl.flock(first, fcntl.LOCK_EX)
    with locked(path, waiting=replaced), pytest.raises(LockBusy), locked(path, wait=False):
        pass


def test_a_link_in_its_place_is_not_followed(tmp_path):
    (tmp_path / "lock").symlink_to(tmp_path / "other")
    said = f"the lock file `{tmp_path}/lock` is a symbolic link of user {getpass.getuser()}: remove it"
    with pytest.raises(LockFileError, match=f"^{re.escape(said)}$"), locked(tmp_path / "lock"):
        pass
    assert not (tmp_path / "other").exists()


def test_a_pipe_in_its_place_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "lock")
    said = f"the lock file `{tmp_path}/lock` is no regular file of user {getpass.getuser()}: remove it"
    with pytest.raises(LockFileError, match=f"^{re.escape(said)}$"), locked(tmp_path / "lock"):
        pass


def _add(path, counter, times):
    for _ in range(times):
        with locked(path):
            counter.write_text(str(int(counter.read_text()) + 1))


def test_nothing_is_lost_between_processes(tmp_path):
    counter = tmp_path / "counter"
    counter.write_text("0")
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_add, args=(tmp_path / "lock", counter, 50)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert counter.read_text() == "200"
