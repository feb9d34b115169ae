"""All commits of a repository, without their files where the server can leave these out."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from stepgrid.build.compilation.toolchain import require
from stepgrid.build.error import BuildError
from stepgrid.build.fetch.git import COMMIT, Git, complaint, place
from stepgrid.build.task import Order

_REFS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")


@contextmanager
def history(order: Order, url: str, without: str = "tree:0") -> Iterator[Git]:
    """`without`: what git is told to leave out; what is asked of that is fetched then. It is gone afterwards."""
    where, told = place(order, url)
    git = Git(order, order.folder / ".git-history")
    git.init()
    try:
        git.check("config", "remote.origin.url", where)
        git.check("config", "remote.origin.promisor", "true")  # else git misses the trees that it asked not to get
        serving = _serving(order, where)
        if serving:  # files that are asked for later are fetched by git itself
            git.check("config", "remote.origin.uploadpack", serving)
        fetched = git.run("fetch", "--quiet", "--update-head-ok", f"--filter={without}", "origin", *_REFS)
        if fetched.status:
            raise BuildError(f"git cannot read {told}: {complaint(fetched)}")
        yield git
    finally:
        shutil.rmtree(git.folder)


def commit_in(git: Git, ref: str) -> str | None:
    done = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    found = done.stdout.strip()
    return found if COMMIT.fullmatch(found) and not done.status else None


def _serving(order: Order, where: str) -> str:
    """The other end of a fetch from this machine is ours too: it leaves trees out only when it is told that it may."""
    if not where.startswith(("file:", "/")):
        return ""
    return f"{shlex.quote(require(order, 'git'))} -c uploadpack.allowFilter=true upload-pack"
