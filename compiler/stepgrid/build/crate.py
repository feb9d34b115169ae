"""Rust crates as source trees, by cargo as the machine has it configured. No build script runs: nothing is built."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from stepgrid.build.archive import unpack
from stepgrid.build.commands import CommandResult
from stepgrid.build.error import BuildError
from stepgrid.build.fetch import REGISTRY_SECONDS, explain_client, verify_checksum
from stepgrid.build.recipe import Artifact, Material, Order, require
from stepgrid.model.plan import Json

_HOST_SECONDS = 60.0
# a package that needs the crate alone; `workspace` keeps cargo from looking for one around it
_MANIFEST = """\
[package]
name = "wants"
version = "0.0.0"
edition = "2018"
[dependencies]
{name} = {{ version = "={version}", default-features = false }}
[workspace]
"""
COMPLAINTS = {
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


class Crate:
    route = "crate"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"crate {source[self.route]} {source.get('version', '')}".rstrip()

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        name, version = str(source[self.route]), str(source.get("version", ""))
        if not version:
            raise BuildError(f"`crate: {name}` names no version: add `version:`")
        package = into / ".cargo-package"
        archive = fetch_archive(package, name, version, order)
        digest = verify_checksum(archive, source, order)
        unpack(archive, into / "tree", strip=True)
        shutil.rmtree(package)
        return Material(
            tree=into / "tree",
            artifacts=(Artifact(name, version, digest),),
            quality={"route": "source"},
            facts={"crate": f"{name} {version}"},
            advice="a crate's version is not that of what it carries: declare the version that it says",
        )


def fetch_archive(package: Path, name: str, version: str, order: Order) -> Path:
    """Return the .crate file in cargo's own cache, which cargo compares with the checksum of its index."""
    (package / "src").mkdir(parents=True)
    (package / "src" / "lib.rs").touch()
    (package / "Cargo.toml").write_text(_MANIFEST.format(name=name, version=version), encoding="utf-8")
    result = _resolve(package, order)
    if result.status:
        raise explain_client("cargo", f"{name} {version}", result, COMPLAINTS)
    for metadata in json.loads(result.stdout)["packages"]:
        if (metadata["name"], metadata["version"]) == (name, version):
            # registry/src/REGISTRY/NAME-VERSION/Cargo.toml and registry/cache/REGISTRY/NAME-VERSION.crate
            tree = Path(metadata["manifest_path"]).parent
            archive = tree.parent.parent.with_name("cache") / tree.parent.name / f"{tree.name}.crate"
            if archive.is_file():
                return archive
            raise BuildError(f"cargo keeps no archive of {tree.name}: a crate of a vendored folder cannot be checked")
    # cargo does not look at what stands after the `+`
    raise BuildError(f"cargo's registry has no {name} {version}: check what stands after the `+`")


def _resolve(package: Path, order: Order) -> CommandResult:
    """Ask the registry; where that fails, use what is on this machine already."""
    cargo = require(order, "cargo")
    lines = order.commands.run([cargo, "--version", "--verbose"], _HOST_SECONDS).stdout.splitlines()
    hosts = [line.removeprefix("host: ") for line in lines if line.startswith("host: ")]
    argv = [cargo, "metadata", "--format-version=1", *(f"--filter-platform={host}" for host in hosts)]
    result = order.commands.run(argv, REGISTRY_SECONDS, quiet=True, cwd=package)
    if result.status:
        order.commands.note(result.stderr)
        offline = order.commands.run([*argv, "--offline"], REGISTRY_SECONDS, quiet=True, cwd=package)
        return result if offline.status else offline
    return result
