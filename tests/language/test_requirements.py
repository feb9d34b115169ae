"""Requirements of scripts: one spelling, the files of Python's tools, what is said of wrong ones."""

import time

import pytest

from stepgrid.language.requirements import RequirementsError, parse_file, parse_requirement, takes_version
from tests.cases import rows

ONE, TWO = "1" * 64, "2" * 64


@pytest.mark.parametrize(
    ("text", "spelling", "version"),
    [
        ("lmdb==1.6.2", "lmdb==1.6.2", "1.6.2"),
        (" lmdb == 1.6.2 ", "lmdb==1.6.2", "1.6.2"),
        ("lmdb", "lmdb", ""),
        ("lmdb>=1.4, <2", "lmdb>=1.4,<2", ""),
        ("lmdb==1.*", "lmdb==1.*", ""),
        (
            "uvicorn[standard, x]~=0.3 ;  python_version < '3.13'",
            "uvicorn[standard,x]~=0.3; python_version < '3.13'",
            "",
        ),
        ("uvicorn[standard]==0.3; python_version < '3.13'", "uvicorn[standard]==0.3; python_version < '3.13'", "0.3"),
        (f"lmdb==1.6.2 --hash=sha256:{TWO} --hash=sha256:{ONE}", "lmdb==1.6.2", "1.6.2"),
    ],
)
def test_a_requirement_has_one_spelling(text, spelling, version):
    requirement = parse_requirement(text)
    assert (requirement.text, requirement.version) == (spelling, version)
    assert parse_requirement(requirement.line) == requirement


@pytest.mark.parametrize(("text", "message", "hint"), rows(__file__, "a_wrong_requirement"))
def test_a_wrong_requirement(text, message, hint):
    with pytest.raises(RequirementsError) as caught:
        parse_requirement(text)
    assert str(caught.value).startswith(message)
    assert caught.value.hint.startswith(hint)


LISTED = f"""\
# made by hand
lmdb==1.6.2 \\
    --hash=sha256:{TWO} \\
    --hash=sha256:{ONE}
plyvel == 1.5.1  # LevelDB
"""
PROJECT = '[project]\nname = "bench"\ndependencies = ["plyvel==1.5.1", "lmdb>=1.4"]\n'
PYLOCK = f"""\
lock-version = "1.0"
[[packages]]
name = "lmdb"
version = "1.6.2"
marker = "sys_platform == 'linux'"
wheels = [{{ url = "https://host.example/lmdb.whl", hashes = {{ sha256 = "{ONE}" }} }}]
"""
UV_LOCK = f"""\
version = 1
[[package]]
name = "bench"
source = {{ virtual = "." }}
dependencies = [{{ name = "lmdb" }}, {{ name = "colour", marker = "sys_platform == 'win32'" }}]
[[package]]
name = "lmdb"
version = "1.6.2"
source = {{ registry = "https://host.example/simple" }}
wheels = [{{ url = "https://host.example/lmdb.whl", hash = "sha256:{ONE}" }}]
[[package]]
name = "colour"
version = "0.1"
source = {{ registry = "https://host.example/simple" }}
[[package]]
name = "pytest"
version = "9.0"
source = {{ registry = "https://host.example/simple" }}
"""
SCRIPT = """\
#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "plyvel==1.5.1",
# ]
# ///
import plyvel
"""


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("requirements.txt", LISTED, [f"lmdb==1.6.2 --hash=sha256:{ONE} --hash=sha256:{TWO}", "plyvel==1.5.1"]),
        ("bench/pyproject.toml", PROJECT, ["plyvel==1.5.1", "lmdb>=1.4"]),
        ("pylock.bench.toml", PYLOCK, [f"lmdb==1.6.2; sys_platform == 'linux' --hash=sha256:{ONE}"]),
        ("uv.lock", UV_LOCK, [f"lmdb==1.6.2 --hash=sha256:{ONE}", "colour==0.1; (sys_platform == 'win32')"]),
        ("kv.py", SCRIPT, ["plyvel==1.5.1", "python>=3.11"]),
    ],
)
def test_files_of_requirements(name, text, lines):
    assert [requirement.line for requirement in parse_file(name, text)] == lines


@pytest.mark.parametrize(("name", "text", "message"), rows(__file__, "wrong_files"))
def test_wrong_files(name, text, message):
    with pytest.raises(RequirementsError) as caught:
        parse_file(name, text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(("clauses", "taken", "refused"), rows(__file__, "versions_of_python_that_a_script_takes"))
def test_versions_of_python_that_a_script_takes(clauses, taken, refused):
    requirement = parse_requirement(f"python{clauses}")
    assert [version for version in (*taken, *refused) if takes_version(requirement, version)] == taken


LENGTH, SECONDS = 16_000, 0.1  # the square of the length takes a second, its third power a day


@pytest.mark.parametrize("tail", ["[", "\0", ";\0"])
@pytest.mark.parametrize("unit", [" ", "a", "a-", " ,<1", " x", "(", "'", "0", " --hash=sha256:", "\t"])
@pytest.mark.parametrize("beginning", ["a", "a<", "a[", "a<1", "a;x", "a --hash=sha256:"])
def test_a_hostile_text(beginning, unit, tail):
    began = time.process_time()
    with pytest.raises(RequirementsError):
        parse_requirement(beginning + unit * (LENGTH // len(unit)) + tail)
    assert time.process_time() - began < SECONDS
