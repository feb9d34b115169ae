"""The content of a site file, and what it names: folders, programs and devices that must be there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from stepgrid.language.fields import Label, Model, Size
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.site import site_slurm
from stepgrid.language.site.site_server import Entry, known
from stepgrid.language.validation import mended
from stepgrid.language.yaml import Map, Text, load
from stepgrid.model.site import Site, SiteServer

DEVICES = Path("/sys/class/block")
Noise = Literal["fix", "leave"]
Budget = Annotated[int, Field(gt=0), *Size.__metadata__]


class SiteFile(Model):
    """Local facts of this machine. Paths may be relative to this file."""

    data: Label | None = Field(None, description="a folder on the device to measure: databases in use and their images")
    device: Label | None = Field(None, description="the block device below it, where that cannot be told from `data`")
    allow_other_hardware: bool = Field(False, description="run specs of other machines, under this host's own id")
    tools: dict[str, Label] = Field({}, description="programs that are not on PATH: name -> path")
    mirrors: dict[str, Label] = Field({}, description="a git URL, or a beginning ending in / -> what is used instead")
    noise: Noise = Field("leave", description="`fix`: settings that make noise are set while a stage is measured")
    disk: Budget | None = Field(None, description="what databases and images of a checkout may take, as 200GiB")
    image_checksums: bool = Field(False, description="record checksums of all files of an image, however large")
    servers: dict[str, Entry] = Field({}, description="that already run, for builds of `source: {server: NAME}`")
    slurm: site_slurm.SlurmEntry | None = Field(
        None, description="nodes of a cluster, for `stepgrid run SPEC --on slurm`"
    )
    signers: Label | None = Field(None, description="ALLOWED SIGNERS of ssh-keygen: only what they signed is imported")
    roots: list[Label] = Field([], description="folders whose files a spec of any folder may include or apply")


def read(path: str, problems: Problems) -> Site:
    nodes = _loaded(path, problems)
    said = mended(SiteFile, nodes, problems)[0] if nodes else None
    if nodes is None or said is None:
        return Site(path)
    look = _Look(Path(path).absolute().parent, nodes, problems)
    return Site(
        path=path,
        data=None if said.data is None else look.folder(said.data),
        device=None if said.device is None else look.device(said.device),
        allow_other_hardware=said.allow_other_hardware,
        tools={name: look.program(given) for name, given in said.tools.items()},
        mirrors=look.mirrors(said.mirrors),
        noise=said.noise,
        disk=said.disk,
        image_checksums=said.image_checksums,
        servers=look.servers(said.servers),
        slurm=None if said.slurm is None else site_slurm.known(said.slurm, problems),
        signers=None if said.signers is None else look.file(said.signers, "signers"),
        roots=tuple(map(look.root, said.roots)),
    )


def _loaded(path: str, problems: Problems) -> Map | None:
    """One that says nothing, for instance in comments alone, is no fault."""
    found = Problems()
    nodes = load(path, found, Location(path, 1, 1))
    for problem in found.items:
        if problem.code != "empty-file":
            problems.append(problem)
    return nodes


class _Look(NamedTuple):
    """Values against what there is on this machine."""

    base: Path  # what relative paths are relative to
    nodes: Map
    problems: Problems

    def folder(self, given: Text) -> str:
        path = self._path(given)
        if not Path(path).is_dir():
            hint = "is its device mounted? stepgrid does not make this folder"
            self._missing(given, f"`data`: there is no folder `{path}`", hint)
        return path

    def root(self, given: Text) -> str:
        path = self._path(given)
        if not Path(path).is_dir():
            self._missing(given, f"`roots`: there is no folder `{path}`")
        return path

    def file(self, given: Text, key: str) -> str:
        path = self._path(given)
        if not Path(path).is_file():
            self._missing(given, f"`{key}`: there is no file `{path}`")
        return path

    def program(self, given: Text) -> str:
        if "/" not in given:
            return str(given)  # another name, found on PATH
        path = self._path(given)
        if not (Path(path).is_file() and os.access(path, os.X_OK)):
            self._missing(given, f"`tools`: there is no program `{path}`")
        return path

    def device(self, given: Text) -> str:
        name = Path("/dev", given).resolve().name  # also of /dev/disk/by-id/…
        known = sorted(entry.name for entry in DEVICES.iterdir()) if DEVICES.is_dir() else []
        if name not in known:
            message = f"`device`: this host has no block device `{name}`"
            self.problems.add("undefined-name", given.where, message, nearest(name, known), len(given))
        return name

    def mirrors(self, given: Mapping[str, Text]) -> dict[str, str]:
        return {self._url(url): self._instead(value) for url, value in given.items()}

    def servers(self, given: Mapping[str, Entry]) -> dict[str, SiteServer]:
        listed = self.nodes.get("servers")
        at = listed.at if isinstance(listed, Map) else {}
        where = {name: at.get(name, self.nodes.where) for name in given}
        return {name: known(name, said, where[name], self._path, self.problems) for name, said in given.items()}

    def _url(self, url: str) -> str:
        if ":" not in url and not url.startswith("/"):
            listed = self.nodes["mirrors"]
            where = listed.at[url] if isinstance(listed, Map) else self.nodes.where
            message = f"`mirrors`: expected a git URL, or a beginning that ends in `/`, found `{url}`"
            self.problems.add("wrong-type", where, message, width=len(url))
        return url

    def _instead(self, given: Text) -> str:
        if ":" in given:
            return str(given)
        path = self._path(given)
        if not Path(path).exists():
            self._missing(given, f"`mirrors`: there is no `{path}`")
        return path

    def _path(self, given: str) -> str:
        return os.path.normpath(self.base / Path(given).expanduser())

    def _missing(self, given: Text, message: str, hint: str = "") -> None:
        self.problems.add("file-not-found", given.where, message, hint, len(given))
