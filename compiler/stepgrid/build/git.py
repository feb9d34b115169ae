"""Git as a client that trusts no repository: refs, trees with submodules, ranges of commits, and patches.

Protocols are fixed; no hook or filter runs and the user is never asked. The user's own settings (credentials, proxy,
`insteadOf`) hold.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct

from stepgrid.build.commands import GIT_VARIABLES, CommandResult, mask_credentials
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Artifact, Material, Order, require
from stepgrid.language.files import head
from stepgrid.language.lock_file import LARGEST_PATCH
from stepgrid.language.sources import source_faults
from stepgrid.model.plan import Json
from stepgrid.model.records import Patch, plain, recipe_patches, replace
from stepgrid.plugins.engine import VersionedTrees

PROTOCOLS = ("https", "ssh", "file")

_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHORT_COMMIT = re.compile(r"[0-9a-f]{4,39}")
_RELATIVE = frozenset("^~@{")  # in a ref that names a commit by another
_GITLINK = re.compile(r"160000 commit ([0-9a-f]{40})\s+(.+)", re.DOTALL)
_PATCH_FAILED = re.compile(r"^error: patch failed: (.+):(\d+)$", re.MULTILINE)
_TREE_REFS = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
_HISTORY_REFS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_LOG_FORMAT = "--format=%H%x09%cs%x09%s"
_DEEPEST_SUBMODULE = 10
_ID_DIGITS = 12
_SECONDS = 4 * 3600.0
_MOST_LINES = 3
_SETTINGS = f"include.path={Path(__file__).with_name('safe.gitconfig')}"  # on the command line: it goes before all
_ATTRIBUTES = "* -filter -ident -working-tree-encoding\n"  # goes before what the repository's own .gitattributes say
# ssh waits without an end for a host that says nothing, and asks for names and passwords
_SSH = "ssh -o BatchMode=yes -o ConnectTimeout=60 -o ServerAliveInterval=30"
_ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {
        "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_LFS_SKIP_SMUDGE": "1",
    }
)
_ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "Could not resolve|Couldn't connect|Connection (refused|reset)|timed out|[Tt]imeout|unreachable|too slow"
        "|Temporary failure": (
            "check the network and its proxy, or name a mirror (`mirrors:` of the site file, docs/reference/running.md)"
        ),
        "could not read Username|Authentication failed|Permission denied|Host key verification|error: 40[13]": (
            "let git in by a credential helper, or ssh by an agent and a known host; nobody is asked"
        ),
        "does not appear to be a git repository|[Rr]epository .*not found": "check the URL",
        "not allowed|is not a git command|unable to find remote helper": f"a URL of {', '.join(PROTOCOLS)} is expected",
    }
)


class GitSource:
    """The source of a commit: nothing else of its repository is fetched where the server allows that."""

    route = "git"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"git {source[self.route]} {source['ref']}"

    def resolve(self, source: Mapping[str, Json], order: Order) -> str:
        """Return the commit that the ref is now."""
        _refuse_faults(source)
        return commit_of(order, str(source[self.route]), str(source["ref"]))

    def list_versions(self, source: Mapping[str, Json], order: Order) -> list[str]:
        tags, refs = "refs/tags/", _list_refs(order, str(source[self.route]))
        return [name.removeprefix(tags) for name in refs if name.startswith(tags)]

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        _refuse_faults(source)
        url, ref, pinned = str(source[self.route]), str(source["ref"]), order.pin(source)
        commit = pinned or commit_of(order, url, ref)
        git = checkout(order, url, commit, into / "tree")
        modules = fetch_submodules(order, git, url) if str(source.get("submodules")).lower() == "true" else []
        return Material(
            tree=into / "tree",
            artifacts=(Artifact(url, ref, commit), *(Artifact(*module) for module in modules)),
            quality={"route": "source"},
            facts={
                "commit": commit,
                **_describe_commit(git, order.site.mirror(url), ref),
                **(_find_later_commit(order, url, ref, pinned) if pinned else {}),
            },
            advice="declare the version that the tree has, or another ref",
        )


def _refuse_faults(source: Mapping[str, Json]) -> None:
    """Check a source again: a plan is a file, and these words reach a command line."""
    for fault in source_faults(source):
        raise BuildError(f"the source cannot be used: {fault.message}")


def _describe_commit(git: Git, url: str, ref: str) -> dict[str, Json]:
    """Date and describe a commit; a tag is set in the tree for programs that ask git what they were built from."""
    tag = f"refs/tags/{ref}"
    if not _COMMIT.fullmatch(ref) and not git.run("ls-remote", "--exit-code", "--tags", "--", url, tag).status:
        git.run("update-ref", tag, "HEAD")
    date = git.check("show", "--no-patch", "--no-show-signature", "--format=%cI", "HEAD").strip()
    described = git.run("describe", "--tags", "--always", "--abbrev=12")
    return {"commit_date": date, **({"describe": described.stdout.strip()} if not described.status else {})}


def _find_later_commit(order: Order, url: str, ref: str, pinned: str) -> dict[str, Json]:
    """Record that a ref has moved since the lock file pinned it; the pinned commit is built."""
    try:
        current = commit_of(order, url, ref)
    except BuildError as error:
        order.commands.note(f"whether {ref} has moved cannot be told: {error}")
        return {}
    if current == pinned:
        return {}
    order.commands.note(f"{ref} is commit {current} by now; built is {pinned}, to which the lock file holds it")
    return {"ref_is_now": current}


def work_tree_files(folder: Path) -> list[str] | None:
    """List the files of a folder that git tracks, or would not ignore; None where there is no work tree, or no git."""
    names = _ask_work_tree(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return None if names is None else [os.fsdecode(name) for name in dict.fromkeys(names.split(b"\0")) if name]


def is_ignored(path: Path) -> bool:
    """Tell whether git would ignore a path that may not be there yet, in a folder that is there."""
    folder = next(parent for parent in path.parents if parent.is_dir())
    return _ask_work_tree(folder, "check-ignore", "--quiet", "--", str(path)) is not None


def _ask_work_tree(folder: Path, *words: str) -> bytes | None:
    """Return what git prints; None where it fails, and where there is no work tree, or no git."""
    root = folder.resolve()
    if not any((parent / ".git").exists() for parent in (root, *root.parents)):
        return None
    argv = ["git", "-c", _SETTINGS, *words]
    inherited = {name: value for name, value in os.environ.items() if name not in GIT_VARIABLES}
    environment = {
        **inherited,
        **_ENVIRONMENT,
        "GIT_ALLOW_PROTOCOL": "none",
    }  # nor does it fetch an object that it lacks
    try:
        return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):  # such as a folder of another user, which git does not trust
        return None


class Git(Struct, frozen=True):
    """The git program in one folder, which becomes a repository by `init`."""

    order: Order
    folder: Path
    environment: Mapping[str, str] = {}  # adds to what every call has

    def init(self) -> None:
        self.folder.mkdir(parents=True)
        template = self.order.folder / ".git-template"
        (template / "info").mkdir(parents=True, exist_ok=True)
        (template / "info" / "attributes").write_text(_ATTRIBUTES, encoding="utf-8")
        self.check("init", "--quiet", f"--template={template.absolute()}")
        shutil.rmtree(template)

    def run(self, *arguments: str, quiet: bool = False, seconds: float = _SECONDS) -> CommandResult:
        argv = [require(self.order, "git"), "-c", _SETTINGS, *arguments]
        environment = {**_ENVIRONMENT, **self._ssh(arguments), **self.environment}
        return self.order.commands.run(argv, seconds, quiet=quiet, cwd=self.folder, env=environment)

    def check(self, *arguments: str, quiet: bool = False) -> str:
        """Return what git prints; an exit status other than 0 is a BuildError."""
        result = self.run(*arguments, quiet=quiet)
        if result.status:
            raise BuildError(f"git {arguments[0]} failed: {explain(result)}")
        return result.stdout

    def _ssh(self, arguments: Sequence[str]) -> Mapping[str, str]:
        """Bound the silence of ssh, unless the user has configured one."""
        if not any(word.startswith("ssh:") for word in arguments) or {"GIT_SSH", "GIT_SSH_COMMAND"} & os.environ.keys():
            return {}
        configured = self.run("config", "--get", "core.sshCommand", quiet=True)
        return {} if configured.status == 0 else {"GIT_SSH_COMMAND": _SSH}


def explain(result: CommandResult) -> str:
    """Return git's complaint without its own advice, and what to do."""
    lines = [line.strip() for line in result.stderr.splitlines() if line.strip()]
    errors = [line.partition(": ")[2] for line in lines if line.startswith(("fatal: ", "error: "))]
    ending = f"it was killed by signal {-result.status}" if result.status < 0 else f"exit status {result.status}"
    text = mask_credentials("; ".join(list(dict.fromkeys(errors or lines))[:_MOST_LINES]) or ending).rstrip(".")
    return text + next((f": {advice}" for pattern, advice in _ADVICE.items() if re.search(pattern, result.stderr)), "")


def _locate(order: Order, url: str) -> tuple[str, str]:
    """Return the URL that is really fetched from, and its name for messages."""
    mirror = order.site.mirror(url)
    return mirror, url if mirror == url else f"{url} (by the site file: {mask_credentials(mirror)})"


# Refs and history: which commit a ref is, which commits lie between two.


def commit_of(order: Order, url: str, ref: str) -> str:
    """Return the commit of a ref, which may be an abbreviated commit, `REF^` or `REF~2`."""
    if _COMMIT.fullmatch(ref):
        return ref
    refs = _list_refs(order, url)
    commit = _find_ref(refs, ref)
    if commit is None and (_RELATIVE & set(ref) or _SHORT_COMMIT.fullmatch(ref)):
        with history(order, url) as git:
            commit = _find_commit(git, ref)
    if commit is None:
        raise BuildError(_explain_missing(refs, url, ref))
    return commit


def missing_refs(order: Order, url: str, names: Iterable[str], seconds: float) -> dict[str, str]:
    """Map the tags and branches that a repository lacks to sentences; BuildError where it gives no answer in time."""
    named = [name for name in names if not (_COMMIT.fullmatch(name) or _RELATIVE & set(name))]
    refs = _list_refs(order, url, seconds) if named else {}
    missing = [name for name in named if _find_ref(refs, name) is None and not _SHORT_COMMIT.fullmatch(name)]
    return {name: _explain_missing(refs, url, name) for name in missing}


def _find_ref(refs: Mapping[str, str], ref: str) -> str | None:
    """Find a short name in the order in which git reads it; `^{}` is the commit that a tag is of."""
    names = (
        ref,
        f"refs/{ref}",
        f"refs/tags/{ref}",
        f"refs/heads/{ref}",
        f"refs/remotes/{ref}",
        f"refs/remotes/origin/{ref}",
    )
    return next((refs[full] for name in names for full in (f"{name}^{{}}", name) if full in refs), None)


def _explain_missing(refs: Iterable[str], url: str, ref: str) -> str:
    from difflib import get_close_matches

    short = dict.fromkeys(re.sub(r"^refs/(tags|heads|remotes)/|\^\{\}$", "", name) for name in refs)
    hint = "".join(f"; did you mean {match}?" for match in get_close_matches(ref, short, 1))
    return f"{url} has no tag, branch or commit {ref}{hint}"


def _list_refs(order: Order, url: str, seconds: float = _SECONDS) -> dict[str, str]:
    address, title = _locate(order, url)
    result = Git(order, order.folder).run("ls-remote", "--", address, quiet=True, seconds=seconds)
    if result.status:
        raise BuildError(f"git cannot read {title}: {explain(result)}")
    rows = (line.split("\t", 1) for line in result.stdout.splitlines() if "\t" in line)
    return {name: commit for commit, name in rows if _COMMIT.fullmatch(commit)}


@contextmanager
def history(order: Order, url: str, without: str = "tree:0") -> Iterator[Git]:
    """Fetch all commits into a temporary repository; objects of the filter `without` are fetched when asked for."""
    address, title = _locate(order, url)
    git = Git(order, order.folder / ".git-history")
    git.init()
    try:
        git.check("config", "remote.origin.url", address)
        git.check("config", "remote.origin.promisor", "true")  # else git misses the trees that it asked not to get
        if address.startswith(("file:", "/")):  # a server on this machine leaves trees out only when allowed to
            serve = f"{shlex.quote(require(order, 'git'))} -c uploadpack.allowFilter=true upload-pack"
            git.check("config", "remote.origin.uploadpack", serve)
        result = git.run("fetch", "--quiet", "--update-head-ok", f"--filter={without}", "origin", *_HISTORY_REFS)
        if result.status:
            raise BuildError(f"git cannot read {title}: {explain(result)}")
        yield git
    finally:
        shutil.rmtree(git.folder)


def _find_commit(git: Git, ref: str) -> str | None:
    result = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    commit = result.stdout.strip()
    return commit if _COMMIT.fullmatch(commit) and not result.status else None


class GitCommit(NamedTuple):
    id: str
    date: str
    subject: str
    version: str = ""  # as its tree says it


def commits(order: Order, url: str, first: str, last: str, versions: VersionedTrees | None = None) -> list[GitCommit]:
    """List commits from `first` to `last`, oldest first; of a merged branch only its merge."""
    with history(order, url, "blob:none" if versions else "tree:0") as git:
        ends = [_find_commit(git, ref) for ref in (first, last)]
        for ref, commit in zip((first, last), ends, strict=True):
            if commit is None:
                raise BuildError(f"{_locate(order, url)[1]} has no tag, branch or commit `{ref}`")
        start, end = map(str, ends)
        _refuse_unrelated(git, (first, start), (last, end))
        walk = ("log", "--first-parent", "--reverse", _LOG_FORMAT, f"{start}..{end}")
        text = git.check("log", "--no-walk", _LOG_FORMAT, start, quiet=True) + git.check(*walk, quiet=True)
        listed = [GitCommit(*line.split("\t", 2)) for line in text.splitlines()]
        return list(_add_versions(git, listed, versions)) if versions else listed


def _refuse_unrelated(git: Git, first: tuple[str, str], last: tuple[str, str]) -> None:
    if first[1] == last[1]:
        raise BuildError(f"`{first[0]}` and `{last[0]}` are the same commit, {first[1][:_ID_DIGITS]}")
    if git.run("merge-base", "--is-ancestor", first[1], last[1]).status:
        shared = git.run("merge-base", first[1], last[1]).stdout.strip()
        hint = f": their last common commit is {shared[:_ID_DIGITS]}" if shared else ""
        hint = f": it comes after `{last[0]}`" if shared == last[1] else hint
        raise BuildError(f"`{first[0]}` is no ancestor of `{last[0]}`{hint}")


def _add_versions(git: Git, listed: Sequence[GitCommit], versions: VersionedTrees) -> Iterator[GitCommit]:
    """Read the version file where a commit changes it."""
    walk = ("log", "--first-parent", "--format=%H", f"{listed[0].id}..{listed[-1].id}", "--", versions.version_file)
    changing = {listed[0].id, *git.check(*walk, quiet=True).split()}
    version = ""
    for commit in listed:
        if commit.id in changing:
            file = git.run("show", f"{commit.id}:{versions.version_file}", quiet=True)
            version = "" if file.status else versions.version_in(file.stdout)
        yield commit._replace(version=version)


def changes(order: Order, url: str, commit: str) -> str:
    """Show author, message and changed files of a commit; of a merge, against the branch that it was merged into."""
    with history(order, url) as git:
        message = git.check("show", "--no-patch", "--no-show-signature", "--format=medium", commit)
        files = git.check("show", "--first-parent", "--diff-merges=first-parent", "--stat=100", "--format=", commit)
    return f"{message.rstrip()}\n\n{files.rstrip()}"


# Trees: a commit and its submodules as files.


class Submodule(NamedTuple):
    url: str  # as the tree that holds it means it
    path: str
    commit: str


def checkout(order: Order, url: str, commit: str, tree: Path) -> Git:
    """Fetch a commit alone where the server allows it, else everything, and check it out. `.git` stays."""
    address, title = _locate(order, url)
    git = Git(order, tree)
    git.init()
    if git.run("fetch", "--quiet", "--depth=1", "--no-tags", "--", address, commit).status:
        result = git.run("fetch", "--quiet", "--", address, *_TREE_REFS)
        if result.status:
            raise BuildError(f"git cannot fetch {title}: {explain(result)}")
    if git.run("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}").status:
        hint = ": check it, or ask for a tag or a branch"
        if commit in order.build.pins.values():  # branches are rewritten, and servers forget unreachable commits
            hint = ", to which the lock file holds it: `stepgrid lock SPEC --update` takes what its ref is now"
        raise BuildError(f"{title} has no commit {commit}{hint}")
    git.check("checkout", "--quiet", "--force", "--detach", commit)
    return git


def fetch_submodules(order: Order, git: Git, url: str, depth: int = 0) -> list[Submodule]:
    """Fetch submodules into the tree, nested ones too; `git submodule` is not used, it follows the tree's settings."""
    if depth > _DEEPEST_SUBMODULE:
        raise BuildError(f"the submodules of {url} are nested more than {_DEEPEST_SUBMODULE} deep")
    modules: list[Submodule] = []
    for module in _list_submodules(git, url):
        folder = git.folder / module.path
        if folder.resolve() != git.folder.resolve() / module.path:
            raise BuildError(f"the submodule {module.path} of {url} is refused: its path leads through a link")
        shutil.rmtree(folder)
        inner = checkout(order, module.url, module.commit, folder)
        modules += [module, *fetch_submodules(order, inner, module.url, depth + 1)]
    return modules


def _list_submodules(git: Git, url: str) -> Iterator[Submodule]:
    entries = git.check("ls-tree", "-r", "-z", "HEAD", quiet=True).split("\0")
    links = [match for entry in entries if (match := _GITLINK.fullmatch(entry))]
    if not links:
        return
    options = ("--null", "--file=.gitmodules", "--no-includes", "--get-regexp", r"^submodule\.")
    lines = git.run("config", *options, quiet=True).stdout.split("\0")
    settings = {name: value for name, _, value in (line.partition("\n") for line in lines if line)}
    urls = {settings[name]: settings.get(f"{name[:-5]}.url") for name in settings if name.endswith(".path")}
    for link in links:
        declared = urls.get(link[2])
        if declared is None:
            raise BuildError(f"{url} has a submodule {link[2]} and does not say where it is from")
        yield Submodule(_submodule_url(url, link[2], declared), link[2], link[1])


def _submodule_url(parent: str, path: str, declared: str) -> str:
    """Resolve and check the URL that a repository names, like one in a spec."""
    url = declared
    if declared.startswith(("./", "../")):
        scheme, _, location = parent.partition("://")
        url = f"{scheme}://{posixpath.normpath(posixpath.join(location, declared))}"
    for fault in source_faults({"git": url, "ref": "HEAD"}):
        raise BuildError(f"the submodule {path} of {parent} is refused: its URL {fault.message}")
    if url.startswith("file:") and not parent.startswith("file:"):
        reason = f"{url} is on this machine, and the repository that names it is not"
        raise BuildError(f"the submodule {path} of {parent} is refused: {reason}")
    return url


# Patches: applied on top of a tree in order, without fuzz, all of them or none.


def apply_patches(order: Order, material: Material) -> Material:
    """Apply the build's patches, whose contents must be those that the plan saw."""
    patches = recipe_patches(order.build.recipe)
    if not patches:
        return material
    if material.tree is None or material.prefix is not None:  # a library stays as it was published
        raise BuildError("there is no tree to patch: leave `patches` out, or build from source")
    folder = order.folder / ".patches"
    folder.mkdir()
    copies = [_copy_patch(patch, folder / str(index)) for index, patch in enumerate(patches)]
    # a repository of our own: an archive may bring one, whose settings name programs to run
    repository = folder / "git"
    Git(order, repository).init()
    variables = {"GIT_DIR": str(repository.absolute() / ".git"), "GIT_WORK_TREE": str(material.tree.absolute())}
    git = Git(order, material.tree, variables)
    for patch, copy in zip(patches, copies, strict=True):
        # git refuses what leads out of the tree, also through a link, and checks all hunks before it writes
        result = git.run("apply", "--whitespace=nowarn", "--", str(copy.absolute()))
        if result.status:
            raise BuildError(f"the patch {patch.path} is refused: {_explain_patch(result, copy.read_bytes())}")
    shutil.rmtree(folder)
    return replace(material, facts={**material.facts, "patches": plain(patches)})


def _copy_patch(patch: Patch, target: Path) -> Path:
    """Copy a patch before it is checked, so that nobody changes it in between."""
    try:
        content = head(patch.path, LARGEST_PATCH)
    except OSError as error:
        raise BuildError(f"the patch {patch.path} cannot be read: {error.strerror}") from None
    if patch.sha256 and hashlib.sha256(content).hexdigest() != patch.sha256:
        raise BuildError(f"the patch {patch.path} changed after the spec was compiled: run the same command again")
    target.write_bytes(content)
    return target


def _explain_patch(result: CommandResult, patch: bytes) -> str:
    if not patch.strip():
        return "it is empty"
    if "No valid patches in input" in result.stderr:
        return "it holds no change: what `git diff` or `diff -u` writes is expected"
    if failed := _PATCH_FAILED.search(result.stderr):
        hint = "; its lines end in CRLF, perhaps not those of the file" if b"\r\n" in patch else ""
        return f"its hunk at {failed[1]}:{failed[2]} does not fit{hint}"
    return explain(result)
