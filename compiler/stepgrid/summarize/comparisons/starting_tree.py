"""Of arms that share their loads: whether the LSM trees that their steps began with are of one shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from stepgrid.model import units
from stepgrid.model.figures import TREE_LEVELS
from stepgrid.model.units import counted

MOVED = 0.10  # of a tree's bytes: what is told when it is on other levels
L0, FILES = "L0", 4  # as many more or fewer there are told, whatever they hold: each is looked into by a read
Level = tuple[float, float]  # files and bytes


def marks(arm: Sequence[Mapping[str, object]], against: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """`began with 4 files of 96 MiB in L0 and 9 of 230 MiB in L1, the base with 12 files of 310 MiB in L1`"""
    one, other = (_tree([each[TREE_LEVELS] for each in runs if TREE_LEVELS in each]) for runs in (arm, against))
    if one and other and _apart(one, other):
        yield f"began with {_told(one)}, the base with {_told(other)}"


def _tree(found: Sequence[object]) -> dict[str, Level]:
    """Medians of the runs, by level."""
    trees = [tree for tree in found if isinstance(tree, Mapping)]
    names = sorted({name for tree in trees for name in tree}, key=lambda name: int(name[1:]))
    every = {name: zip(*(tree.get(name, (0.0, 0.0)) for tree in trees), strict=True) for name in names}
    return {name: (median(files), median(sizes)) for name, (files, sizes) in every.items()}


def _apart(one: Mapping[str, Level], other: Mapping[str, Level]) -> bool:
    nothing = 0.0, 0.0
    moved = sum(abs(one.get(name, nothing)[1] - other.get(name, nothing)[1]) for name in {*one, *other})
    whole = max(sum(size for _, size in tree.values()) for tree in (one, other))
    files = abs(one.get(L0, nothing)[0] - other.get(L0, nothing)[0])
    return files >= FILES or moved / 2 > MOVED * whole


def _told(tree: Mapping[str, Level]) -> str:
    first, *rest = ((name, *level) for name, level in tree.items() if level[0])
    parts = [f"{counted(round(first[1]), 'file')} of {units.size(first[2])} in {first[0]}"]
    parts += [f"{round(files)} of {units.size(size)} in {name}" for name, files, size in rest]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
