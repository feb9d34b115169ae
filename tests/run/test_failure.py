from pathlib import Path

from compiler.run.failure import StageError, end_of, telling


def test_the_end_of_a_log_is_its_last_lines_with_something_on_them(tmp_path):
    log = tmp_path / "stderr"
    log.write_text("".join(f"line {n}\n\n" for n in range(30)) + "... 10 ops\r... 20 ops\r\n\x1b[31mred\x1b[0m\n")
    assert end_of(log).splitlines() == [*(f"line {n}" for n in range(17, 30)), "... 20 ops", "red"]


def test_a_progress_line_counts_as_its_last_state(tmp_path):
    (tmp_path / "stderr").write_text("1%\r50%\r99%")
    assert end_of(tmp_path / "stderr") == "99%"


def test_no_log_has_no_end(tmp_path):
    assert end_of(tmp_path / "none") == ""


def test_the_log_that_says_most(tmp_path):
    assert telling(tmp_path) == tmp_path / "stderr"
    (tmp_path / "stdout").write_text("words")
    assert telling(tmp_path) == tmp_path / "stdout"
    (tmp_path / "stderr").write_text("complaint")
    assert telling(tmp_path) == tmp_path / "stderr"
    (tmp_path / "stdout").write_text("put error: No space left on device\n")
    assert telling(tmp_path) == tmp_path / "stdout"


def test_what_a_person_sees():
    assert StageError("it hangs", "readww", Path("a/log"), "x\ny").block("title") == (
        "failed: title\n  readww: it hangs\n  | x\n  | y\n  log: a/log"
    )
    assert StageError("no host").block("title") == "failed: title\n  no host"
