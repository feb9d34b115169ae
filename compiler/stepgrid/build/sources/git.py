"""A commit of a git repository: nothing else of it is fetched where the server allows that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stepgrid.build.error import BuildError
from stepgrid.build.fetch.git import COMMIT, Git
from stepgrid.build.fetch.git_refs import commit_of
from stepgrid.build.fetch.git_tree import checkout, submodules
from stepgrid.build.source import Artifact, Material
from stepgrid.build.task import Order
from stepgrid.language.sources import source_faults
from stepgrid.model.plan import Json

_ADVICE = "declare the version that the tree has, or another ref"


class GitSource:
    route = "git"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"git {source[self.route]} {source['ref']}"

    def resolve(self, source: Mapping[str, Json], order: Order) -> str:
        """The commit that the ref is now."""
        _refuse(source)
        return commit_of(order, str(source[self.route]), str(source["ref"]))

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        _refuse(source)
        url, ref, pinned = str(source[self.route]), str(source["ref"]), order.pin(source)
        commit = pinned or commit_of(order, url, ref)
        git = checkout(order, url, commit, into / "tree")
        modules = submodules(order, git, url) if str(source.get("submodules")).lower() == "true" else []
        fetched = [Artifact(url, ref, commit), *(Artifact(each.url, each.path, each.commit) for each in modules)]
        moved = {} if pinned is None else _moved(order, url, ref, pinned)
        return Material(
            tree=into / "tree",
            artifacts=tuple(fetched),
            quality={"route": "source"},
            facts={"commit": commit, **_about(git, order.site.mirror(url), ref), **moved},
            advice=_ADVICE,
        )


def _refuse(source: Mapping[str, Json]) -> None:
    """`check` has said so already; a plan is a file, though, and these words reach a command line."""
    for fault in source_faults(source):
        raise BuildError(f"the source cannot be used: {fault.message}")


def _about(git: Git, where: str, ref: str) -> dict[str, Json]:
    """A tag is made known to the tree: programs that print what they were built from ask git."""
    tag = f"refs/tags/{ref}"
    if not COMMIT.fullmatch(ref) and not git.run("ls-remote", "--exit-code", "--tags", "--", where, tag).status:
        git.run("update-ref", tag, "HEAD")
    date = git.check("show", "--no-patch", "--no-show-signature", "--format=%cI", "HEAD").strip()
    described = git.run("describe", "--tags", "--always", "--abbrev=12")
    return {"commit_date": date, **({"describe": described.stdout.strip()} if not described.status else {})}


def _moved(order: Order, url: str, ref: str, pinned: str) -> dict[str, Json]:
    """The lock file holds: that the ref is elsewhere by now is worth a word, not a build."""
    try:
        now = commit_of(order, url, ref)
    except BuildError as error:
        order.commands.note(f"whether {ref} has moved cannot be told: {error}")
        return {}
    if now == pinned:
        return {}
    order.commands.note(f"{ref} is commit {now} by now; built is {pinned}, to which the lock file holds it")
    return {"ref_is_now": now}
