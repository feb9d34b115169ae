"""What a machine without the tools of some tests sees: skips with their reasons, and how to install what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests import registries
from tests.needs import lacking, report
from tests.packages import PACKAGES

ROOT = Path(__file__).resolve().parents[1]


def test_skips_are_grouped_before_the_last_line_of_pytest(tmp_path: Path) -> None:
    """A PATH without a program: the tests of tests/build/test_compilation.py that compile cannot."""
    some = ("tests/build/test_compilation.py", "-k", "outermost or fails_is_named or left_of_an_installation")
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *some]
    env = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    *_, head, one, two, install, last = done.stdout.splitlines()
    assert head.strip("=") == " skipped "
    assert {one, two} == {
        "1 skipped: this machine has no cc, c++, make",
        "1 skipped: this machine has no strip, cc, c++, make",
    }
    assert install.startswith("to install what is missing: ")
    assert "binutils g++ gcc make" in install
    assert " passed, 2 skipped, " in last


def test_reasons_with_most_tests_come_first_and_one_command_installs_all() -> None:
    reasons = Counter({"this machine has no mvn": 2, "only root may": 3, "this machine has no cc, no-such-tool": 2})
    lines = list(report(reasons))
    assert lines[:3] == [
        "3 skipped: only root may",
        "2 skipped: this machine has no cc, no-such-tool",
        "2 skipped: this machine has no mvn",
    ]
    assert lines[3].endswith(" gcc maven") or " gcc maven " in lines[3]
    assert list(report(Counter({"only root may": 1}))) == ["1 skipped: only root may"]


def test_all_that_a_test_lacks_is_named_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert lacking(["cc", "maven", "make", "cc"]) == "this machine has no cc, mvn, make"
    assert lacking([]) == ""


def test_a_client_that_hears_nothing_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """npm alone would wait for many minutes."""
    monkeypatch.setattr(registries, "SECONDS", 0.5)
    silent = registries.Registry("sh", ("sh", "-c", "sleep 600"), "^answered$")
    monkeypatch.setitem(registries.REGISTRIES, "silent", silent)
    began = time.monotonic()
    assert lacking(["silent"]) == "silent cannot reach its registry: no answer within 0.5 s"
    assert time.monotonic() - began < 60


def test_a_client_that_cannot_ask_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = registries.Registry("sh", ("sh", "-c", "echo asking; echo 'error: no route'; exit 1"), "^answered$")
    monkeypatch.setitem(registries.REGISTRIES, "refused", refused)
    assert lacking(["refused"]) == "refused cannot reach its registry: error: no route"


def test_a_client_that_heard_something_is_waited_for_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = registries.Registry("sh", ("sh", "-c", "echo answered; sleep 600"), "^answered$")
    monkeypatch.setitem(registries.REGISTRIES, "heard", heard)
    assert lacking(["heard"]) == ""


def test_packages_are_those_that_messages_of_builds_name() -> None:
    from stepgrid.build.recipe import PACKAGES as TOOL_PACKAGES

    assert {name: PACKAGES[name] for name in PACKAGES.keys() & TOOL_PACKAGES} == {
        name: TOOL_PACKAGES[name] for name in PACKAGES.keys() & TOOL_PACKAGES
    }
