"""The raw files of a step, in the folder TAG/STEP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from stepgrid.plugins import driver
from stepgrid.plugins.importer import Faults
from stepgrid_importers.insert_benchmark import client_output, outcome
from stepgrid_importers.insert_benchmark.client_output import Client
from stepgrid_importers.insert_benchmark.outcome import Outcome
from stepgrid_importers.shared import iostat, text_files, vmstat

IOSTAT, VMSTAT = "o.io.", "o.vm."


class RawRun(NamedTuple):
    folder: Path
    tag: str
    step: str
    outcome: Outcome
    clients: Sequence[Client]
    vmstat: vmstat.Vmstat | None
    device: Sequence[iostat.Sample]
    cores: int | None
    kernel: str | None

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.outcome.path, *(each.path for each in self.clients))


def read(path: Path, faults: Faults) -> RawRun | None:
    """`path`: o.res.dopN."""
    content = text_files.read(path, faults)
    if content is None:
        return None
    found, folder, clients = (
        outcome.parse(content, path, faults),
        path.parent,
        text_files.plain(path.name).rpartition(".")[2],
    )
    processors = _vmstat(_named(folder, VMSTAT + clients), faults)
    devices = _iostat(_named(folder, IOSTAT + clients), faults)
    _device(found, devices, faults)
    return RawRun(
        folder,
        folder.parent.name,
        folder.name,
        found,
        list(_clients(folder, clients, faults)),
        processors,
        devices.devices.get(found.device or "", ()) if devices else (),
        devices.cores if devices else None,
        devices.kernel if devices else None,
    )


def _device(found: Outcome, there: iostat.Iostat | None, faults: Faults) -> None:
    if found.first and there and there.devices and found.device not in there.devices:
        named = found.device or "no device"
        said = f"{named} is named in it: of {', '.join(there.devices)} the database's is not known, and left out"
        faults.add_unknown(found.path, None, said)


def _clients(folder: Path, clients: str, faults: Faults) -> Iterator[Client]:
    paths = (path for path in folder.iterdir() if path.name.startswith(f"{client_output.PREFIX}{clients}."))
    for path in sorted(paths, key=client_output.number):
        if (content := text_files.read(path, faults)) is not None:
            yield client_output.parse(content, path, faults)


def _named(folder: Path, name: str) -> Path | None:
    return next((folder / each for each in (name, name + driver.GZ) if (folder / each).is_file()), None)


def _vmstat(path: Path | None, faults: Faults) -> vmstat.Vmstat | None:
    content = text_files.read(path, faults) if path else None
    return vmstat.parse(content, path, faults) if path and content is not None else None


def _iostat(path: Path | None, faults: Faults) -> iostat.Iostat | None:
    content = text_files.read(path, faults) if path else None
    return iostat.parse(content, path, faults) if path and content is not None else None
