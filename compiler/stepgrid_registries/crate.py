"""Rust crates by cargo as the machine has it configured: as source trees, of which nothing is run, or as programs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from stepgrid.build.archive import unpack
from stepgrid.build.commands import CommandResult
from stepgrid.build.error import BuildError
from stepgrid.build.fetch import verify_checksum
from stepgrid.build.recipe import Artifact, Material, Order, require
from stepgrid.model.plan import Json
from stepgrid_registries.clients import PROGRAM_ADVICE, REGISTRY_SECONDS, HttpClient, explain_client

_HOST_SECONDS = 60.0
# a package that needs the crate alone; `workspace` keeps cargo from looking for one around it
_MANIFEST = """\
[package]
name = "wants"
version = "0.0.0"
edition = "2018"
[dependencies]
{name} = {{ version = "{requirement}", default-features = false }}
[workspace]
"""
_COMPLAINTS = {
    r"no packages found with binaries|there is nothing to install": "{item} has no program: it is a library. A package"
    " of your own that uses it is a `path` source with `command: cargo build --release`",
    r"could not compile `(?P<crate>[^`]+)`": "{item}: its crate {crate} cannot be compiled here: see the build's log",
    r"candidate versions found which didn't match: (?P<others>[^\n]+)": "cargo's registry has no {item};"
    " it has: {others}",
    r"using offline mode": "cargo is set to work offline, and its cache does not hold {item}",
    r"no matching package named": "cargo's registry has no {item}: check the crate's name",
    r"feature `\S+` is required|requires rustc|is not supported by this version of Cargo|failed to parse manifest": (
        "this machine's cargo is too old for {item}: install a newer one"
    ),
    r"checksum for .* changed|failed to verify the checksum": "{item} arrived broken, with another checksum than its"
    " registry says: run the same command again",
}


_CARGO = HttpClient("cargo", _COMPLAINTS, {"CARGO_NET_OFFLINE": "true"})


class Crate:
    route = "crate"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"crate {source[self.route]} {source.get('version', '')}".rstrip()

    def list_versions(self, source: Mapping[str, Json], order: Order) -> list[str]:
        return _list_versions(str(source[self.route]), order)

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        artifact, archive = _fetch_artifact(self.route, source, into, order)
        unpack(archive, into / "tree", strip=True)
        return Material(
            tree=into / "tree",
            artifacts=(artifact,),
            quality={"route": "source"},
            facts={"crate": f"{artifact.name} {artifact.version}"},
            advice="a crate's version is not that of what it carries: declare the version that it says",
        )


class Cargo:
    """Programs of a crate, compiled with the dependencies that its author locked, where there is a `Cargo.lock`."""

    route = "cargo"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"{self.route} {source[self.route]} {source.get('version', '')}".rstrip()

    def list_versions(self, source: Mapping[str, Json], order: Order) -> list[str]:
        return _list_versions(str(source[self.route]), order)

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        cargo, prefix, target = require(order, "cargo"), into / "prefix", into / ".target"
        artifact, _ = _fetch_artifact(self.route, source, into, order)
        version = artifact.version.partition("+")[0]  # of which cargo takes no notice
        argv = [cargo, "install", artifact.name, f"--version={version}", "--locked", "--no-track", f"--root={prefix}"]
        argv += [f"--features={source['features']}"] if "features" in source else []
        item = f"{artifact.name} {artifact.version}"
        _CARGO.install(order, item, argv, {"CARGO_TARGET_DIR": str(target)})
        shutil.rmtree(target)
        rustc = order.commands.first_line([str(Path(cargo).with_name("rustc")), "--version"])
        quality: dict[str, Json] = {"route": self.route, "compiler": rustc, "features": str(source.get("features", ""))}
        return Material(prefix=prefix, artifacts=(artifact,), quality=quality, advice=PROGRAM_ADVICE)

    def resolve(self, source: Mapping[str, Json], order: Order) -> str:
        """Hold the crate's archive; nothing is compiled for that."""
        return f"sha256:{_fetch_artifact(self.route, source, order.folder, order)[0].digest}"


def _fetch_artifact(route: str, source: Mapping[str, Json], into: Path, order: Order) -> tuple[Artifact, Path]:
    name, version = str(source[route]), str(source.get("version", ""))
    if not version:
        raise BuildError(f"`{route}: {name}` names no version: add `version:`")
    package = into / ".cargo-package"
    archive = _fetch_archive(package, name, version, order)
    shutil.rmtree(package)
    return Artifact(name, version, verify_checksum(archive, source, order)), archive


def _fetch_archive(package: Path, name: str, version: str, order: Order) -> Path:
    """Return the .crate file in cargo's own cache, which cargo compares with the checksum of its index."""
    for resolved, tree in _resolve(package, name, f"={version}", order):
        if resolved == version:
            # registry/src/REGISTRY/NAME-VERSION/Cargo.toml and registry/cache/REGISTRY/NAME-VERSION.crate
            archive = tree.parent.parent.with_name("cache") / tree.parent.name / f"{tree.name}.crate"
            if archive.is_file():
                return archive
            raise BuildError(f"cargo keeps no archive of {tree.name}: a crate of a vendored folder cannot be checked")
    # cargo does not look at what stands after the `+`
    raise BuildError(f"cargo's registry has no {name} {version}: check what stands after the `+`")


def _list_versions(name: str, order: Order) -> list[str]:
    """Read cargo's own copy of the registry's entry, which it has just compared: a line of JSON for each version."""
    for _, tree in _resolve(order.folder / ".cargo-package", name, "*", order, may_be_old=False):
        index = tree.parents[2] / "index" / tree.parent.name / ".cache"
        for entry in index.rglob(name.lower()):
            releases = [json.loads(part) for part in entry.read_bytes().split(b"\0") if part.startswith(b"{")]
            return [release["vers"] for release in releases if not release["yanked"]]
    raise BuildError(f"cargo keeps no list of the versions of {name}")


def _resolve(
    package: Path, name: str, requirement: str, order: Order, may_be_old: bool = True
) -> list[tuple[str, Path]]:
    """Let cargo choose a version of a crate, and fetch it; return all of that name, with their trees."""
    (package / "src").mkdir(parents=True)
    (package / "src" / "lib.rs").touch()
    manifest = _MANIFEST.format(name=name, requirement=requirement)
    (package / "Cargo.toml").write_text(manifest, encoding="utf-8")
    result = _ask_registry(package, order, may_be_old)
    if result.status:
        raise explain_client("cargo", f"{name} {requirement.strip('=*')}".strip(), result, _COMPLAINTS)
    packages = [entry for entry in json.loads(result.stdout)["packages"] if entry["name"] == name]
    return [(entry["version"], Path(entry["manifest_path"]).parent) for entry in packages]


def _ask_registry(package: Path, order: Order, may_be_old: bool) -> CommandResult:
    """Ask the registry; where that fails, use what is on this machine already, if that will do."""
    cargo = require(order, "cargo")
    lines = order.commands.run([cargo, "--version", "--verbose"], _HOST_SECONDS).stdout.splitlines()
    hosts = [line.removeprefix("host: ") for line in lines if line.startswith("host: ")]
    manifest = f"--manifest-path={package.absolute() / 'Cargo.toml'}"
    argv = [cargo, "metadata", "--format-version=1", manifest, *(f"--filter-platform={host}" for host in hosts)]
    result = order.commands.run(argv, REGISTRY_SECONDS, quiet=True)
    if result.status and may_be_old:
        order.commands.note(result.stderr)
        offline = order.commands.run([*argv, "--offline"], REGISTRY_SECONDS, quiet=True)
        return result if offline.status else offline
    return result
