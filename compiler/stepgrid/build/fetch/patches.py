"""Applies a build's patches on top of its source tree: in order, without fuzz, all of them or none."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from stepgrid.build.command_runner import CommandResult
from stepgrid.build.error import BuildError
from stepgrid.build.fetch.git import Git, complaint
from stepgrid.build.source import Material
from stepgrid.build.task import Order
from stepgrid.model.plan import Json, PlannedBuild

_FAILED = re.compile(r"^error: patch failed: (.+):(\d+)$", re.MULTILINE)


def apply(order: Order, material: Material) -> Material:
    """Their contents must be those that the plan saw."""
    listed = list(_listed(order.build))
    if not listed:
        return material
    if material.tree is None:
        raise BuildError("there is no tree to patch: leave `patches` out, or build from source")
    folder = order.folder / ".patches"
    folder.mkdir()
    kept = [_kept(path, sha256, folder / str(index)) for index, (path, sha256) in enumerate(listed)]
    git = _git(order, material.tree, folder / "git")
    for (path, _), file in zip(listed, kept, strict=True):
        _apply(git, path, file)
    shutil.rmtree(folder)
    said: list[Json] = [{"path": path, "sha256": sha256} for path, sha256 in listed]
    return replace(material, facts={**material.facts, "patches": said})


def _listed(build: PlannedBuild) -> Iterator[tuple[str, str]]:
    patches: Any = build.recipe.get("patches") or []
    for patch in patches:
        if isinstance(patch, Mapping):
            yield str(patch["path"]), str(patch["sha256"])
        else:
            yield str(patch), ""


def _kept(path: str, sha256: str, to: Path) -> Path:
    """A copy of its own: what is applied is what was checked."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise BuildError(f"the patch {path} cannot be read: {error.strerror}") from None
    if sha256 and hashlib.sha256(content).hexdigest() != sha256:
        raise BuildError(f"the patch {path} changed after the spec was compiled: run the same command again")
    to.write_bytes(content)
    return to


def _git(order: Order, tree: Path, repository: Path) -> Git:
    """For the tree, and of a repository of our own: an archive may bring one, whose settings name programs to run."""
    Git(order, repository).init()
    own = {"GIT_DIR": str(repository.absolute() / ".git"), "GIT_WORK_TREE": str(tree.absolute())}
    return Git(order, tree, own)


def _apply(git: Git, path: str, file: Path) -> None:
    """git refuses what leads out of the tree, also through a link, and looks at all hunks before it writes."""
    done = git.run("apply", "--whitespace=nowarn", "--", str(file.absolute()))
    if done.status:
        raise BuildError(f"the patch {path} is refused: {_why(done, file.read_bytes())}")


def _why(done: CommandResult, patch: bytes) -> str:
    if not patch.strip():
        return "it is empty"
    if "No valid patches in input" in done.stderr:
        return "it holds no change: what `git diff` or `diff -u` writes is expected"
    if failed := _FAILED.search(done.stderr):
        ends = "; its lines end in CRLF, perhaps not those of the file" if b"\r\n" in patch else ""
        return f"its hunk at {failed[1]}:{failed[2]} does not fit{ends}"
    return complaint(done)
