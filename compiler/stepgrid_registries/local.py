"""Sources on this machine: a binary that is recorded as it is, and a tree, or files of it, that are copied."""

from __future__ import annotations

import fcntl
import os
import platform
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from stepgrid.build.elf import UNREADABLE, read_elf
from stepgrid.build.error import BuildError
from stepgrid.build.pins import chosen_files
from stepgrid.build.recipe import Artifact, Material, Order
from stepgrid.host.files import FICLONE, sha256
from stepgrid.language.files import head, open_regular, tree_checksum
from stepgrid.language.sources import WHOLE, local_files
from stepgrid.model.plan import Json

_MOST_FILES = 3  # in the name of a source
_MOST_SIBLINGS = 1000  # that a script is searched for


class System:
    """A binary that is on the machine already: never copied."""

    route = "system"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"system {source[self.route]}"

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        names = order.programs
        paths = {name: _find_program(str(source[self.route]), name, names) for name in names}
        files: dict[str, dict[str, Json]] = {}
        for name, path in paths.items():
            order.commands.note(f"{name}: {path}")
            real = path.resolve()
            status = real.stat()
            times = {"bytes": status.st_size, "modified": status.st_mtime_ns}
            files[name] = {"path": str(real), "sha256": sha256(real), **times}
        first = read_elf(paths[names[0]].resolve())
        return Material(
            programs=paths,
            quality={
                "route": self.route,
                "compiler": first.compiler if first else UNREADABLE,
                "architecture": first.architecture if first else platform.machine(),
                # its optimisation is not known: only the same file compares without a caveat
                "sha256": {name: facts["sha256"] for name, facts in files.items()},
            },
            facts={"files": dict(files)},
            advice="declare the version that it says, or name another binary",
        )


def _find_program(declared: str, name: str, programs: Sequence[str]) -> Path:
    """Look a name up on PATH, as the program's siblings are; with a path they are in its folder."""
    chosen = declared if len(programs) == 1 or Path(declared).name == name else str(Path(declared).parent / name)
    if "/" in declared and not Path(declared).is_absolute():
        raise BuildError(f"`system: {declared}` is neither a program's name nor an absolute path")
    path = shutil.which(chosen)
    if not path and "/" in chosen:
        raise BuildError(f"`system: {declared}`: there is no program {chosen}, or it is not executable")
    if not path:
        raise BuildError(f"`system: {declared}`: no program {chosen} on PATH; install it, or give its absolute path")
    if not Path(path).is_file():
        raise BuildError(f"`system: {declared}`: {path} is no program, but a pipe or a device")
    return Path(path).absolute()


class LocalTree:
    """A tree on this machine: copied, so that whoever works on it does not disturb its compile."""

    route = "path"

    def describe(self, source: Mapping[str, Json]) -> str:
        names = [] if WHOLE in local_files(source) else local_files(source)
        listed = ", ".join([*names[:_MOST_FILES], *(["…"] if len(names) > _MOST_FILES else [])])
        return f"path {source[self.route]}{f' ({listed})' if names else ''}"

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        path, tree = Path(str(source[self.route])), into / "tree"
        if not path.is_dir():
            raise BuildError(f"`path: {path}`: there is no such folder")
        order.commands.note(f"copy {self.describe(source)}")
        _copy_tree(path, tree, local_files(source), order.folder)
        digest = tree_checksum(tree)
        order.commands.note(f"content {digest}")
        if digest != (order.pin(source) or digest):  # a test's plan has no pins
            raise BuildError(f"{path} changed after the spec was compiled: run the same command again")
        return Material(
            tree=tree,
            artifacts=(Artifact(str(path), "", digest),),
            quality={"route": "source"},
            advice="declare the version that the tree has, or another path",
            warning=_missing_file(path, tree, local_files(source)),
        )


def _missing_file(path: Path, tree: Path, names: Sequence[str]) -> str:
    """Tell of a file that was not chosen, and that a chosen script in its folder names or imports."""
    for name in names:
        content = head(str(tree / name)) if (tree / name).is_file() else b"\0"
        if b"\0" in content:  # no text
            continue
        text = content.decode(errors="replace")
        siblings = [*(path / name).parent.iterdir()][:_MOST_SIBLINGS]
        for sibling in sorted(entry.relative_to(path) for entry in siblings if not entry.name.startswith(("_", "."))):
            if not (tree / sibling).exists() and _mentions(text, sibling.name):
                return (
                    f"{name} mentions {sibling}, which is left out: `source: {{path: …, files: [{sibling}]}}` adds it"
                )
    return ""


def _mentions(text: str, name: str) -> bool:
    """Tell whether a text has a name as that of a file, or imports it."""
    word = re.escape(name)
    is_file = rf"(?<![\w.-]){word}(?![\w-])" if "." in name else rf"(?<![\w}}]){word}/|/{word}(?![\w-])"
    is_module = rf"^\s*(?:from|import)\s+{re.escape(name.removesuffix('.py'))}\b"
    return re.search(f"{is_file}|{is_module}", text, re.MULTILINE) is not None


def _copy_tree(path: Path, tree: Path, names: Sequence[str], attempt: Path) -> None:
    """Copy a tree, or the files that names choose of it."""
    try:
        files = chosen_files(path, names)
    except FileNotFoundError as error:
        missing = os.path.relpath(str(error.filename), path.resolve())
        raise BuildError(f"`path: {path}` has no file {missing}") from None
    attempt = attempt.resolve()
    if attempt.is_relative_to(path.resolve()) and (
        files is None or any(file.resolve().is_relative_to(attempt) for file in files.values())
    ):
        hint = f"give the tree a folder of its own, or {'let git ignore it' if files else 'name its `files`'}"
        raise BuildError(f"`path: {path}` holds the folder that builds are made in: {hint}")
    try:
        if files is None:
            shutil.copytree(path, tree, symlinks=True, ignore=_select_ignored, copy_function=_copy)
            return
        tree.mkdir()
        for name, source in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            if source.is_symlink():
                (tree / name).symlink_to(source.readlink())
            else:
                _copy(str(source), str(tree / name))
    except shutil.Error as error:
        first = error.args[0][0]
        raise BuildError(f"{first[0]} cannot be copied: {first[2]}") from None


def _select_ignored(folder: str, names: Sequence[str]) -> set[str]:
    """Leave out the history, and what is no file: sockets, pipes."""
    paths = {name: Path(folder, name) for name in names}
    copied = {name for name, path in paths.items() if path.is_symlink() or path.is_file() or path.is_dir()}
    return {name for name in names if name == ".git" or name not in copied}


def _copy(old: str, new: str) -> str:
    with open_regular(old) as source, Path(new).open("xb") as target:
        with suppress(OSError):
            fcntl.ioctl(target.fileno(), FICLONE, source.fileno())
            shutil.copystat(old, new)
            return new
        while os.sendfile(target.fileno(), source.fileno(), None, 1 << 26):
            pass
    shutil.copystat(old, new)  # with the times: a make that compares them must not find work
    return new
