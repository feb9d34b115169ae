"""The system libraries that ready server binaries are started with: a package's are its suite's own."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from stepgrid.build.apt.private_apt import lacking
from stepgrid.build.recipes.server_programs import installed
from stepgrid.build.source import Artifact
from stepgrid.build.sources import source_of
from stepgrid.build.task import Order
from stepgrid.model.plan import Json

FOLDER = "system"  # below the build's folder


class Libraries(NamedTuple):
    system: str | None  # the prefix below the build's folder that holds them; None: the machine's
    artifacts: tuple[Artifact, ...] = ()


def of(order: Order, packaged: bool) -> Libraries:
    wanted = installed(order.engine).libraries
    if packaged:
        return Libraries("prefix")
    if wanted is None or lacking():
        return Libraries(None)
    return fetch(order, wanted)


def fetch(order: Order, wanted: Mapping[str, Json]) -> Libraries:
    """`wanted`: packages of a suite; what they depend on comes along, the loader too."""
    folder = order.folder / FOLDER
    folder.mkdir()
    fetched = source_of(wanted).fetch(wanted, folder, order)
    assert fetched.prefix is not None
    _prune(folder)
    return Libraries(str(fetched.prefix.relative_to(order.folder)), fetched.artifacts)


def _prune(folder: Path) -> None:
    """Of the packages only the libraries are needed."""
    for place in (*folder.glob("prefix/usr/*"), *folder.glob("prefix/etc"), *folder.glob("prefix/var")):
        if not place.name.startswith("lib"):
            shutil.rmtree(place)
