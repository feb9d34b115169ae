"""Commands of drivers, their requests to servers, and raw output."""

import gzip
import os
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.package import INTERPRETER
from stepgrid.plugins import driver
from stepgrid.plugins.registry import require_runner
from stepgrid.plugins.server import Access
from tests.cases import rows

CONTEXT = driver.Context({"db_bench": ("ld.so", "--library-path", "lib", "db_bench")}, "1.0", Path("/d"), Path("/f"), 7)


def _argv(*words, **options):
    return require_runner("command").command({"argv": list(words), "duration": 5.0}, options, CONTEXT).argv


def test_placeholders_are_filled_in_and_nothing_else():
    assert _argv("sh", "-c", "ls {data} > {folder}/list.{seed}") == ("sh", "-c", "ls /d > /f/list.7")
    assert _argv("awk", "{print $1}", "{dta}", "{}") == ("awk", "{print $1}", "{dta}", "{}")


def test_options_are_words_of_their_own():
    assert _argv("x", "{options}", sync=True, size=4096) == ("x", "--sync=true", "--size=4096")
    assert _argv("x", sync=True) == ("x",)


def test_a_value_is_never_filled_in_twice():
    context = driver.Context({}, "1.0", Path("/{seed}"), Path("/f"), 7)
    assert require_runner("command").command({"argv": ["x", "{data}"], "duration": None}, {}, context).argv == (
        "x",
        "/{seed}",
    )


def test_a_program_that_the_build_lacks():
    with pytest.raises(LookupError) as caught:
        _argv("{program:ldb}")
    assert caught.value.args == ("the build has no program `ldb`; it has: db_bench",)


@pytest.mark.parametrize("word", rows(__file__, "braces_of_other_programs_are_left_alone"))
def test_braces_of_other_programs_are_left_alone(word):
    assert list(driver.unknown_placeholders(word, driver.PLACEHOLDERS)) == []


ACCESS = Access("mariadb", Path("/s"), Path("/s/mysqld.sock"), 3306, "u", "secret", "d", "innodb")


def _context(access):
    return driver.Context({}, "1", Path("/data"), Path("/step"), 1, access)


def test_what_is_asked_comes_by_a_file_and_not_by_the_command_line(tmp_path):
    made = driver.server_request("stepgrid.drivers.sql", _context(ACCESS), {"sql": ["select 1"]}, 5.0)
    assert (made.argv, made.duration) == ((*INTERPRETER, "stepgrid.drivers.sql"), 5.0)
    assert "secret" not in str((made.argv, made.env))
    (tmp_path / driver.REQUEST).write_text(made.files[driver.REQUEST])
    assert driver.read_request(tmp_path) == (ACCESS, {"sql": ["select 1"]})


@pytest.mark.parametrize("access", [ACCESS, ACCESS._replace(host="db1", running=True)])
def test_the_password_is_not_kept(access, tmp_path):
    (tmp_path / driver.REQUEST).write_text(
        driver.server_request("stepgrid.drivers.sql", _context(access), {"sql": []}).files[driver.REQUEST]
    )
    assert driver.read_request(tmp_path) == (access, {"sql": []})
    assert driver.read_request(tmp_path) == (access._replace(password=""), {"sql": []})


def test_what_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zeros").write_bytes(bytes(1 << 20))
    (tmp_path / "zeros.gz").write_bytes(gzip.compress(bytes(1 << 20)))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"text")[:-4])
    for name, largest, why in (
        ("pipe", 9, "it is no regular file"),
        ("/dev/zero", 9, "it is no regular file"),
        ("zeros", 1 << 10, "it has more than 1 KiB"),
        ("zeros.gz", 1 << 10, "it has more than 1 KiB"),
        ("cut.gz", 1 << 20, "Compressed file ended before the end-of-stream marker was reached"),
    ):
        for read in (driver.read_output, lambda *words: list(driver.output_lines(*words))):
            with pytest.raises(driver.RawOutputError) as caught:
                read(tmp_path / name, largest)
            assert str(caught.value) == why


@pytest.mark.parametrize("kind", ["db_bench", "sysbench", "linkbench"])
def test_parse_says_so(kind, tmp_path, monkeypatch, capsys):
    assert main(["parse", kind, "/dev/zero"]) == 2
    assert capsys.readouterr().err == "/dev/zero cannot be read: it is no regular file\n"
    monkeypatch.setattr(driver, "LARGEST", 1 << 10)
    monkeypatch.setattr(driver.read_output, "__defaults__", (1 << 10,))
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(1 << 20)))
    assert main(["parse", kind, str(tmp_path / "a.gz")]) == 2
    assert capsys.readouterr().err == f"{tmp_path}/a.gz cannot be read: it has more than 1 KiB\n"


def test_a_link_out_of_a_published_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text("p4ss\n")
    (tmp_path / "d" / "in").mkdir(parents=True)
    (tmp_path / "d" / "sb.o.x").symlink_to("../secret")
    (tmp_path / "d" / "inside").symlink_to("in")
    assert main(["published", "sysbench", "d"]) == 1
    said = capsys.readouterr().err
    assert said == (
        "d/sb.o.x: is a link out of the folder: replace it by a copy of what it leads to\nnothing was imported\n"
    )
