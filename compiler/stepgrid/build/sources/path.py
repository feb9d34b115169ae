"""A tree on this machine: copied, so that whoever works on it does not disturb its compile."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from stepgrid.build.error import BuildError
from stepgrid.build.source import Artifact, Material
from stepgrid.build.task import Order
from stepgrid.language.files import tree_checksum
from stepgrid.model.plan import Json

_ADVICE = "declare the version that the tree has, or another path"
_FICLONE = 0x40049409  # shares the blocks, where the file system can


class LocalTree:
    route = "path"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"path {source[self.route]}"

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        path, tree = Path(str(source[self.route])), into / "tree"
        _refuse(path, order)
        try:
            shutil.copytree(path, tree, symlinks=True, ignore=_left_out, copy_function=_copy)
        except shutil.Error as error:
            first = error.args[0][0]
            raise BuildError(f"{first[0]} cannot be copied: {first[2]}") from None
        found = tree_checksum(tree)
        order.commands.note(f"{path}: content {found}")
        if found != (order.pin(source) or found):  # a test's plan has no pins
            raise BuildError(f"{path} changed after the spec was compiled: run the same command again")
        return Material(
            tree=tree, artifacts=(Artifact(str(path), "", found),), quality={"route": "source"}, advice=_ADVICE
        )


def _refuse(path: Path, order: Order) -> None:
    if not path.is_dir():
        raise BuildError(f"`path: {path}`: there is no such folder")
    if order.folder.resolve().is_relative_to(path.resolve()):
        raise BuildError(f"`path: {path}` holds the folder that builds are made in: give the tree a folder of its own")


def _left_out(folder: str, names: Sequence[str]) -> set[str]:
    """The history, and what is no file: sockets, pipes."""
    return {name for name in names if name == ".git" or not _is_content(Path(folder, name))}


def _is_content(path: Path) -> bool:
    return path.is_symlink() or path.is_file() or path.is_dir()


def _copy(old: str, new: str) -> str:
    with Path(old).open("rb") as source, Path(new).open("xb") as target:
        with suppress(OSError):
            fcntl.ioctl(target.fileno(), _FICLONE, source.fileno())
            shutil.copystat(old, new)
            return new
        while os.sendfile(target.fileno(), source.fileno(), None, 1 << 26):
            pass
    shutil.copystat(old, new)  # with the times: a make that compares them must not find work
    return new
