import pytest

from stepgrid.host.failure import StageError, end_of_log, explaining_log, is_from_outside


def test_of_a_long_line_both_ends_are_shown(tmp_path):
    (tmp_path / "stderr").write_text(f"FATAL: error 1114 for {'x' * 10_000}: table full\n{'y' * 400}\n")
    long, short = end_of_log(tmp_path / "stderr").splitlines()
    assert (len(long), short) == (403, "y" * 400)
    assert long == f"FATAL: error 1114 for {'x' * 228} … {'x' * 138}: table full"


def test_the_log_that_says_most(tmp_path):
    assert explaining_log(tmp_path) == tmp_path / "stderr"
    (tmp_path / "stdout").write_text("words")
    assert explaining_log(tmp_path) == tmp_path / "stdout"
    (tmp_path / "stderr").write_text("complaint")
    assert explaining_log(tmp_path) == tmp_path / "stderr"
    (tmp_path / "stdout").write_text("put error: No space left on device\n")
    assert explaining_log(tmp_path) == tmp_path / "stdout"


@pytest.mark.parametrize(
    "message",
    [
        "the disk of x is full: 0 B of 4 MiB free",
        "the disk of x is read-only now: see",
        "it was killed by SIGKILL (by the kernel when memory runs out, or by someone)",
    ],
)
def test_what_says_nothing_of_an_image(message):
    assert is_from_outside(StageError(message))
    assert is_from_outside(StageError("it ended with exit status 1", tail="IO error: No space left on device"))
    assert not is_from_outside(StageError("it ended with exit status 1"))
    assert not is_from_outside(StageError("it was killed by SIGSEGV"))
