"""An archive of a source tree, by URL or from this machine; nothing of it is unpacked before its checksum is right."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from stepgrid.build.error import BuildError
from stepgrid.build.source import Artifact, Material
from stepgrid.build.task import Order
from stepgrid.language.sources import source_faults
from stepgrid.model.plan import Json

_ADVICE = "declare the version that the tree has, or another archive"


class Tarball:
    route = "tarball"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"tarball {source[self.route]}"

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        from stepgrid.build.fetch.archive_extraction import unpack
        from stepgrid.build.fetch.download import (
            download,  # every run imports this module: what few need is left until then
        )

        for fault in source_faults(source):
            raise BuildError(f"the source cannot be used: {fault.message}")
        url, expected = str(source[self.route]), str(source["sha256"])
        name = Path(unquote(urlsplit(url).path)).name or "archive"
        kept = into / ".download"
        found = download(url, kept)
        order.commands.note(f"{url}: {kept.stat().st_size} bytes, sha256 {found}")
        if found != expected:
            raise BuildError(f"{url} is not the file that the spec means: its sha256 is {found}, expected {expected}")
        archive = kept.rename(into / name)
        unpack(archive, into / "tree", strip=True)
        archive.unlink()
        return Material(
            tree=into / "tree", artifacts=(Artifact(url, name, found),), quality={"route": "source"}, advice=_ADVICE
        )
