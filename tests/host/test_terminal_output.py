"""What programs, bundles and names have in them does not reach the terminal as a command."""

import json
import os

import pytest

from stepgrid.cli import main
from stepgrid.host.failure import StageError, end_of_log, explaining_log, is_from_outside
from stepgrid.host.terminal_output import TextBlock, folded, visible

CLIPBOARD = "\x1b]52;c;cm0gLXJmIH4K\x07"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (CLIPBOARD, "\\u001b]52;c;cm0gLXJmIH4K\\u0007"),
        ("a\r\x1b[2K\x1b[1Ab\x9b31mc", "a\\u000d\\u001b[2K\\u001b[1Ab\\u009b31mc"),
        ("user\u202egnp.exe\u2066\udcff", "user\\u202egnp.exe\\u2066\\udcff"),
        ("a\tb\nc é 漢 😀 \x1b[32mdone\x1b[0m", "a\tb\nc é 漢 😀 \x1b[32mdone\x1b[0m"),
    ],
)
def test_what_is_shown(text, shown):
    assert visible(text) == shown
    assert not visible("".join(map(chr, range(0x20)))).replace("\t", "").replace("\n", "").count("\x1b")


def test_json_stays_json():
    text = json.dumps({"name": "a\x7f\x9b\u202e"}, ensure_ascii=False)
    assert json.loads(visible(text)) == json.loads(text)


def test_lines_that_are_drawn_over_themselves_and_messages_above_them():
    ours, theirs = os.openpty()
    block = TextBlock(theirs)
    block.draw([f"watching {CLIPBOARD}"])
    assert os.read(ours, 1000).decode() == f"\rwatching {visible(CLIPBOARD)}\x1b[K\r\n\x1b[J"
    block.draw(["watching"], message="failed: a\n  b")
    assert os.read(ours, 1000).decode() == "\r\x1b[1Afailed: a\x1b[K\r\n  b\x1b[K\r\nwatching\x1b[K\r\n\x1b[J"
    block.clear()
    assert os.read(ours, 1000).decode() == "\r\x1b[1A\x1b[J"
    os.close(ours)
    block.draw(["nobody looks"])
    os.close(theirs)


def test_a_command_whose_file_has_such_a_name(tmp_path, capsys):
    name = tmp_path / f"a{CLIPBOARD}.gz"
    name.write_bytes(b"no")
    assert main(["parse", "db_bench", str(name)]) == 2
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert visible(CLIPBOARD) in said


@pytest.mark.parametrize(("no_color", "severity"), [("", "\x1b[33mwarning[x-y]\x1b[0m"), ("1", "warning[x-y]")])
def test_problems_at_a_terminal_are_folded_and_coloured(monkeypatch, no_color, severity):
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w") as stream:
        text = f"a.yaml:1:1: warning[x-y]: {'word ' * 16}\n   1 | {'a: b, ' * 20}\n     | ^\n   = {'hint ' * 16}"
        lines = folded(text, stream).split("\n")
    os.close(ours)
    assert lines[0].startswith(f"a.yaml:1:1: {severity}: word")
    assert [line[:5] for line in lines] == ["a.yam", "  wor", "   1 ", "     ", "   = ", "     "]
    assert max(len(line.replace(severity, "warning[x-y]")) for line in lines) <= 80


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
