"""The source of a Rust crate, by cargo as the machine has it configured. No build script runs: nothing is built."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from stepgrid.build.command_runner import CommandResult
from stepgrid.build.compilation.toolchain import require
from stepgrid.build.error import BuildError
from stepgrid.build.fetch.archive_extraction import unpack
from stepgrid.build.source import Artifact, Material
from stepgrid.build.sources.checksum import checked
from stepgrid.build.sources.error_messages import complaint
from stepgrid.build.task import Order
from stepgrid.model.plan import Json

SECONDS = 3600.0
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
_COMPLAINTS = {
    r"candidate versions found which didn't match: (?P<others>[^\n]+)": "cargo's registry has no {what};"
    " it has: {others}",
    r"using offline mode": "cargo is set to work offline, and its cache does not hold {what}",
    r"no matching package named": "cargo's registry has no {what}: check the crate's name",
    r"feature `\S+` is required|requires rustc|is not supported by this version of Cargo|failed to parse manifest": (
        "this machine's cargo is too old for {what}: install a newer one"
    ),
    r"checksum for .* changed|failed to verify the checksum": "{what} arrived broken, with another checksum than its"
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
        crate = into / ".cargo-package"
        archive = _archive(crate, name, version, order)
        digest = checked(archive, source, order)
        unpack(archive, into / "tree", strip=True)
        shutil.rmtree(crate)
        return Material(
            tree=into / "tree",
            artifacts=(Artifact(name, version, digest),),
            quality={"route": "source"},
            facts={"crate": f"{name} {version}"},
            advice="a crate's version is not that of what it carries: declare the version that it says",
        )


def _archive(folder: Path, name: str, version: str, order: Order) -> Path:
    """The .crate file in cargo's own cache, which cargo holds to the checksum of its index."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "lib.rs").touch()
    (folder / "Cargo.toml").write_text(_MANIFEST.format(name=name, version=version), encoding="utf-8")
    done = _resolved(folder, order)
    if done.status:
        raise complaint("cargo", f"{name} {version}", done, _COMPLAINTS)
    found = [each for each in json.loads(done.stdout)["packages"] if (each["name"], each["version"]) == (name, version)]
    if not found:  # cargo does not look at what stands after the `+`
        raise BuildError(f"cargo's registry has no {name} {version}: check what stands after the `+`")
    return _cached(Path(found[0]["manifest_path"]).parent)


def _resolved(folder: Path, order: Order) -> CommandResult:
    """Asks the registry; where that fails, what is on this machine already."""
    cargo = require(order, "cargo")
    said = order.commands.run([cargo, "--version", "--verbose"], _HOST_SECONDS).stdout.splitlines()
    host = [line.removeprefix("host: ") for line in said if line.startswith("host: ")]
    argv = [cargo, "metadata", "--format-version=1", *(f"--filter-platform={each}" for each in host)]
    done = order.commands.run(argv, SECONDS, quiet=True, cwd=folder)
    if done.status:
        order.commands.note(done.stderr)
        again = order.commands.run([*argv, "--offline"], SECONDS, quiet=True, cwd=folder)
        return done if again.status else again
    return done


def _cached(unpacked: Path) -> Path:
    """Cargo keeps `registry/cache/REGISTRY/NAME-VERSION.crate` beside `registry/src/REGISTRY/NAME-VERSION/`."""
    registry = unpacked.parent
    found = registry.parent.with_name("cache") / registry.name / f"{unpacked.name}.crate"
    if not found.is_file():
        raise BuildError(f"cargo keeps no archive of {unpacked.name}: a crate of a vendored folder cannot be checked")
    return found
