"""What a disk holds after a power cut: a model that is told of names and syncs, as bench/power_cut.c writes them down.

Of two kinds of file system the worst: one that loses every name and byte that was not synced, and one that keeps all
names, but of a file the bytes alone that were synced."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

LOST, EMPTY = "names are lost", "names stay without bytes"


class Event(NamedTuple):
    what: str  # create, truncate, mkdir, symlink, rename, link, remove, sync
    path: str  # below the folder; of a rename or link the old one, or nothing where that is elsewhere
    more: str = ""  # the new path; the target; the copy of the content


@dataclass(eq=False)
class Node:
    """A file, or a symbolic link where it has a target."""

    copy: str | None = None  # the content as it was synced last
    target: str | None = None
    empty: bool = False  # truncated since


@dataclass(eq=False)
class Folder:
    live: dict[str, Node | Folder] = field(default_factory=dict)
    kept: dict[str, Node | Folder] = field(default_factory=dict)
    pending: list[Change] = field(default_factory=list)


@dataclass(eq=False)
class Change:
    """Of one folder, or of two at once, as a rename is."""

    entries: Sequence[tuple[Folder, str, Node | Folder | None]]
    done: bool = False

    def commit(self) -> None:
        """With what was changed before it in the same folders."""
        if not self.done:
            self.done = True
            for folder, _, _ in self.entries:
                for earlier in folder.pending[: folder.pending.index(self)]:
                    earlier.commit()
            for folder, name, node in self.entries:
                _put(folder.kept, name, node)


State: TypeAlias = dict[str, "Node | None"]  # path -> a file or link; None: a folder


class Disk:
    """`root`: the path of the folder, which survives."""

    def __init__(self, root: str) -> None:
        self._prefix, self.root = root, Folder()

    def apply(self, event: Event) -> None:
        getattr(self, f"_{event.what}")(event.path, event.more)

    def state(self, kind: str) -> State:
        return dict(_walk(self.root, "", kind == LOST))

    def _create(self, path: str, _: str) -> None:
        self._change((path, Node()))

    def _truncate(self, path: str, _: str) -> None:
        node = self._node(path)
        node.empty = True

    def _mkdir(self, path: str, _: str) -> None:
        self._change((path, Folder()))

    def _symlink(self, path: str, target: str) -> None:
        self._change((path, Node(target=target)))

    def _remove(self, path: str, _: str) -> None:
        self._change((path, None))

    def _rename(self, old: str, new: str) -> None:
        found = self._found(old) if old else None
        self._change(*([(old, None)] if old else []), (new, found or Node()))

    def _link(self, old: str, new: str) -> None:
        self._change((new, (self._found(old) if old else None) or Node()))

    def _sync(self, path: str, copy: str) -> None:
        found = self._found(path)
        if isinstance(found, Folder):
            for change in found.pending:
                change.commit()
            found.pending.clear()
        elif copy:
            node = self._node(path)
            node.copy, node.empty = copy, False

    def _node(self, path: str) -> Node:
        """Of a file that was opened by a call that nobody saw: as if it were made now."""
        found = self._found(path)
        if not isinstance(found, Node):
            self._create(path, "")
            found = self._found(path)
        assert isinstance(found, Node)
        return found

    def _found(self, path: str) -> Node | Folder | None:
        found: Node | Folder | None = self.root
        for name in self._parts(path):
            found = found.live.get(name) if isinstance(found, Folder) else None
        return found

    def _change(self, *changes: tuple[str, Node | Folder | None]) -> None:
        entries = [(self._folder(path), self._parts(path)[-1], node) for path, node in changes]
        change = Change(entries)
        for folder, name, node in entries:
            _put(folder.live, name, node)
            folder.pending.append(change)

    def _folder(self, path: str) -> Folder:
        found = self._found(path.rpartition("/")[0])
        assert isinstance(found, Folder), path
        return found

    def _parts(self, path: str) -> list[str]:
        return [part for part in os.path.normpath(path.removeprefix(self._prefix)).split("/") if part not in ("", ".")]


def _put(entries: dict[str, Node | Folder], name: str, node: Node | Folder | None) -> None:
    entries.pop(name, None)
    if node is not None:
        entries[name] = node


def _walk(folder: Folder, above: str, lost: bool) -> Iterator[tuple[str, Node | None]]:
    for name, node in sorted((folder.kept if lost else folder.live).items()):
        if isinstance(node, Folder):
            yield above + name, None
            yield from _walk(node, f"{above}{name}/", lost)
        else:
            empty = node.empty and not lost
            yield above + name, Node(None if empty else node.copy, node.target)


def key(state: State) -> tuple[tuple[str, str | None, str | None], ...]:
    """Equal for states that are the same."""
    return tuple((path, node.copy if node else "folder", node.target if node else None) for path, node in state.items())


def write(state: State, copies: Path, into: Path) -> None:
    """As the next start of the host finds it."""
    for path, node in state.items():
        if node is None:
            (into / path).mkdir()
        elif node.target is not None:
            (into / path).symlink_to(node.target)
        elif node.copy is None:
            (into / path).touch()
        else:
            shutil.copy2(copies / node.copy, into / path)
