"""`--importer NAME`: folders of published results, those of `--samples` among them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from stepgrid.plugins.metrics import METRICS
from stepgrid.plugins.registry import DRIVERS
from stepgrid_conformance.support import NAMED, OutputSample, check, refuse
from stepgrid_published import importer as protocols
from stepgrid_published.importer import IMPORTERS, Faults, FolderError


def test_it_has_all_of_its_protocol(importer: str) -> None:
    check(IMPORTERS.get(importer), protocols.Importer)


def test_its_steps_are_of_a_kind_that_is_installed(importer: str) -> None:
    kind = IMPORTERS.get(importer).kind
    assert kind in DRIVERS.names(), f"`kind` is {kind}: no installed driver"


def test_a_folder_without_results_has_none(importer: str, tmp_path: Path) -> None:
    plugin, faults = IMPORTERS.get(importer), Faults()
    with suppress(FolderError):
        measured = plugin.measured(plugin.read(tmp_path, faults))
        assert not list(measured), "an empty folder has results: raise FolderError, or give none"


def test_a_sample_is_read_whole(importer: str, sample: OutputSample) -> None:
    sample.skip_unless(importer)
    plugin, faults = IMPORTERS.get(importer), Faults()
    measured = plugin.measured(plugin.read(sample.folder, faults))
    refuse("faults of the sample", faults)
    assert measured, "the sample has no results"
    unknown = [name for step in measured for name in step.figures.metrics if name not in METRICS]
    refuse("figures that are no metrics", dict.fromkeys(unknown), NAMED)
