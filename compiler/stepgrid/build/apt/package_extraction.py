"""Unpacks packages into a prefix that can be moved: one merged tree, relative links, no manuals."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from stepgrid.build.command_runner import Commands
from stepgrid.build.error import BuildError

SECONDS = 300.0
_MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_PRUNED = ("doc", "doc-base", "info", "lintian", "locale", "man", "bug", "icons", "bash-completion")


def unpack(packages: Iterable[Path], prefix: Path, commands: Commands) -> None:
    prefix.mkdir()
    for package in packages:
        done = commands.run(["dpkg-deb", "-x", str(package.resolve()), str(prefix.resolve())], SECONDS)
        if done.status:
            raise BuildError(f"{package.name} cannot be unpacked: {done.stderr.strip()}")
    merge_usr(prefix)
    relink(prefix)
    for name in _PRUNED:
        shutil.rmtree(prefix / "usr" / "share" / name, ignore_errors=True)


def merge_usr(prefix: Path) -> None:
    """/lib … become links into /usr, as on an installed system: older suites have files in both."""
    for name in _MERGED:
        old, new = prefix / name, prefix / "usr" / name
        if old.is_dir() and not old.is_symlink():
            for link in _links(old):
                _root(link, prefix)  # a relative one would point elsewhere from its new place
            _move(old, new)
        if new.is_dir() and not old.is_symlink():
            old.symlink_to(Path("usr") / name)


def relink(prefix: Path) -> None:
    """Absolute links point into the prefix, wherever it is."""
    for link in _links(prefix):
        target = str(link.readlink())
        if target.startswith("/"):
            _replace(link, os.path.relpath(prefix / target.lstrip("/"), link.parent))


def _root(link: Path, prefix: Path) -> None:
    target = os.path.normpath(link.parent / link.readlink())
    if target.startswith(f"{prefix}/"):
        _replace(link, target.removeprefix(str(prefix)))


def _replace(link: Path, target: str) -> None:
    link.unlink()
    link.symlink_to(target)


def _move(old: Path, new: Path) -> None:
    new.mkdir(parents=True, exist_ok=True)
    for entry in sorted(old.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            _move(entry, new / entry.name)
        else:
            entry.replace(new / entry.name)
    old.rmdir()


def _links(prefix: Path) -> Iterator[Path]:
    for folder, folders, files in list(os.walk(prefix)):
        yield from (path for name in (*folders, *files) if (path := Path(folder, name)).is_symlink())
