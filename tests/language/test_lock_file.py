"""Lock files: what is read and written; wrong ones are in problems/lock_files.yaml."""

import time
from pathlib import Path

import pytest

from stepgrid.language import lock_file
from stepgrid.language.problems import Problems, _source, format_problems

COMMIT, CHECKSUM = "5ec0ffee" * 5, f"sha256:{'5ec0ffee' * 8}"
GIT, JAR = "git https://example.org/r.git v9.9.3", "maven org.rocksdb:rocksdbjni:9.9.3 linux64"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _source.cache_clear()


def read(text):
    if text is not None:
        Path("a.lock.yaml").write_text(text)
    problems = Problems()
    return lock_file.read("a.yaml", problems), format_problems(problems.items)


def test_libraries_are_held_by_lines():
    key = "requirements lmdb,plyvel>=1.5"
    pins = {key: f"lmdb==1.6.2 --hash={CHECKSUM}\nplyvel==1.5.1"}
    text = lock_file.text(pins)
    assert text.splitlines()[3:] == [f"  {key}:", f"    - lmdb==1.6.2 --hash={CHECKSUM}", "    - plyvel==1.5.1"]
    assert read(text)[0].pins == pins
    _, said = read(text.replace("plyvel==1.5.1", "plyvel==1.5.1 --index-url=https://host.example"))
    assert f"what holds `{key}` still is a list of NAME==VERSION" in said


@pytest.mark.parametrize("text", [None, "", "# nothing yet\n", "lock: 1\n", "lock: 1\nsources:\n", "sources: {}\n"])
def test_without_a_file_nothing_is_held(text):
    assert read(text) == (lock_file.Lock({}, {}), "")


def test_what_is_written_is_read_again():
    pins = {JAR: CHECKSUM, GIT: COMMIT, "path-like: # odd": CHECKSUM}
    text = lock_file.text(pins)
    assert text == (
        "# written by `stepgrid lock`; `--update` moves what is held here\n"
        "lock: 1\n"
        "sources:\n"
        f"  {GIT}: {COMMIT}\n"
        f"  {JAR}: {CHECKSUM}\n"
        f'  "path-like: # odd": {CHECKSUM}\n'
    )
    found, said = read(text)
    assert (found.pins, said) == (pins, "")
    assert str(found.at[JAR]) == "a.lock.yaml:5:3"
    assert lock_file.text(dict(reversed(pins.items()))) == text
    assert read(lock_file.text({}))[0].pins == {}


def test_what_nothing_uses():
    found, _ = read(lock_file.text({GIT: COMMIT, JAR: CHECKSUM}))
    problems = Problems()
    lock_file.warn_of_unused(found, {JAR, GIT.replace("9.3", "4.2")}, problems)
    assert [(problem.code, problem.message, problem.hint) for problem in problems.items] == [
        ("lock-unused", f"the spec has no source `{GIT}`", "did you mean `git https://example.org/r.git v9.4.2`?")
    ]


def test_a_folder_of_its_name():
    Path("a.lock.yaml").mkdir()
    assert read(None)[1] == "a.lock.yaml:1:1: error[file-not-found]: `a.lock.yaml` is a folder, not a spec"


def test_a_file_of_more_releases_than_anybody_publishes():
    releases = ", ".join(f"1.{number}" for number in range(50_000))
    began = time.process_time()
    lock, said = read(f"lock: 1\nversions:\n  git x: [{releases}]\n")
    assert time.process_time() - began < 30
    assert lock.versions == {}
    assert "50,000 releases of `git x`: a lock file has at most 5,000" in said
