"""`--collector NAME`: its command and, with `--samples`, what it counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.expand.checks import COLLECTOR_SETTINGS
from stepgrid.plugins import collector as protocols
from stepgrid.plugins.collector import Target
from stepgrid.plugins.metrics import METRICS
from stepgrid.plugins.registry import COLLECTORS
from stepgrid_conformance.support import NAMED, OutputSample, check, optional, refuse


def test_it_has_every_protocol_whole_or_not_at_all(collector: str) -> None:
    check(COLLECTORS.get(collector), protocols.Collector, *optional(protocols))


def test_it_names_its_program_package_and_settings(collector: str) -> None:
    plugin = COLLECTORS.get(collector)
    assert plugin.tool, "`tool` is empty: name the program that it runs"
    assert plugin.package, "`package` is empty: name the Debian package of its program"
    own_settings = [name for name in plugin.settings if name not in COLLECTOR_SETTINGS]
    refuse("settings that are no names", [name for name in own_settings if not name.isidentifier()])


def test_its_command_is_of_words(collector: str, tmp_path: Path) -> None:
    argv = COLLECTORS.get(collector).argv("/bin/tool", {}, Target((7, 8), tmp_path))
    assert argv[0] == "/bin/tool", f"its command begins with {argv[0]}, not with the program that it gets"
    assert all(argv), "its command has an empty word"


def test_what_was_not_counted_is_missing(collector: str, tmp_path: Path) -> None:
    refuse("an empty folder has figures", COLLECTORS.get(collector).parse(tmp_path), "what is missing has no figure")


def test_a_sample_has_the_figures_that_are_expected(collector: str, sample: OutputSample) -> None:
    sample.skip_unless(collector)
    figures = COLLECTORS.get(collector).parse(sample.folder)
    assert dict(figures) == pytest.approx(dict(sample.expected))
    refuse("figures that are no metrics", [name for name in figures if name not in METRICS], NAMED)
