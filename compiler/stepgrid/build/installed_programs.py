"""Programs of published packages, installed into the build by the client of their registry: cargo, go and npm.

Each client works with this machine's settings, and takes from its cache what no registry can be reached for.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from stepgrid.build.commands import CommandResult
from stepgrid.build.crate import COMPLAINTS as CRATE_COMPLAINTS
from stepgrid.build.crate import fetch_archive
from stepgrid.build.error import BuildError
from stepgrid.build.fetch import REGISTRY_SECONDS, UNREACHABLE, explain_client, verify_checksum
from stepgrid.build.recipe import Artifact, Material, Order, require
from stepgrid.model.plan import Json

_SECONDS = 60.0
_ADVICE = "a package's version is not always what its program says: declare the version of the program"
_OLD = "is too old for {item}: install a newer one, or name one as `{client}` under `tools:` in the site file"
_COMPLAINTS: Mapping[str, Mapping[str, str]] = {
    "cargo": {
        **CRATE_COMPLAINTS,
        r"no packages found with binaries|there is nothing to install": "{item} has no program: it is a library. A"
        " package of your own that uses it is a `path` source with `command: cargo build --release`",
        r"requires rustc|is not supported by the following package": f"this machine's Rust {_OLD}",
        r"could not compile `(?P<crate>[^`]+)`": "{item}: its crate {crate} cannot be compiled here: see the"
        " build's log",
    },
    "go": {
        r"requires go >= (?P<go>\S+)": f"this machine's go {_OLD}",
        r"replace directives|exclude directives": "{item} cannot be installed by its name, because its module"
        " replaces others: use a `git` source with `command: go build …`",
        r"is not a main package|does not contain package|no matching versions|unknown revision|version is not available"
        r"|[Nn]ot [Ff]ound": "{item}: go finds no program of this name and version; a path such as"
        " HOST/MODULE/cmd/NAME and a version such as v1.2.3 are expected",
    },
    "npm": {
        r"code ETARGET": "npm's registry has no {item}: check its version",
        r"code E404": "npm's registry has no {item}: check its name",
        r"code EBADENGINE": f"this machine's node {_OLD}",
        r"code EINTEGRITY": "{item} arrived broken, with another checksum than its registry says:"
        " run the same command again",
        r"code ENOTCACHED": "npm is set to work offline, and its cache does not hold {item}",
    },
}
_OFFLINE = {"cargo": {"CARGO_NET_OFFLINE": "true"}, "go": {"GOPROXY": "off"}, "npm": {"npm_config_offline": "true"}}


class Cargo:
    """Programs of a crate, compiled with the dependencies that its author locked, where there is a `Cargo.lock`."""

    route = "cargo"

    def describe(self, source: Mapping[str, Json]) -> str:
        return _describe(self.route, source)

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        name, version = str(source[self.route]), str(source["version"])
        cargo, target = require(order, "cargo"), into / ".target"
        artifact = self._fetch_artifact(source, into, order)
        argv = [cargo, "install", name, f"--version={version.partition('+')[0]}", f"--root={into / 'prefix'}"]
        argv += ["--locked", "--no-track", f"--target-dir={target}"]
        argv += [f"--features={source['features']}"] if "features" in source else []
        _install(self.route, order, self.describe(source), argv)
        shutil.rmtree(target)
        rustc = _first_line(order, [str(Path(cargo).with_name("rustc")), "--version"])
        quality: dict[str, Json] = {"route": self.route, "compiler": rustc, "features": str(source.get("features", ""))}
        return Material(prefix=into / "prefix", artifacts=(artifact,), quality=quality, advice=_ADVICE)

    def resolve(self, source: Mapping[str, Json], order: Order) -> str:
        """Hold the crate's archive; nothing is compiled for that."""
        return f"sha256:{self._fetch_artifact(source, order.folder, order).digest}"

    def _fetch_artifact(self, source: Mapping[str, Json], into: Path, order: Order) -> Artifact:
        package, name, version = into / ".cargo-package", str(source[self.route]), str(source["version"])
        archive = fetch_archive(package, name, version, order)
        shutil.rmtree(package)
        return Artifact(name, version, verify_checksum(archive, source, order))


class Go:
    """A program of a Go module; go compares all modules with its checksum database."""

    route = "go"

    def describe(self, source: Mapping[str, Json]) -> str:
        return _describe(self.route, source)

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        path, _, version = str(source[self.route]).partition("@")
        version = version or str(source["version"])
        version = f"v{version}" if version[0].isdigit() else version
        go, folder = require(order, "go"), into / "prefix" / "bin"
        argv = [go, "install", "-trimpath", f"{path}@{version}"]
        _install(self.route, order, self.describe(source), argv, {"GOBIN": str(folder), "GOTOOLCHAIN": "local"})
        programs = sorted(folder.iterdir())
        facts = order.commands.run([go, "version", "-m", *map(str, programs)], _SECONDS).stdout
        modules = re.findall(r"^\t(?:mod|dep)\t(\S+)\t(\S+)\th1:(\S+)$", facts, re.MULTILINE)
        artifacts = [Artifact(name, number, base64.b64decode(digest).hex()) for name, number, digest in modules]
        if (pinned := order.pin(source)) and artifacts and artifacts[0].digest != pinned:
            digest = artifacts[0].digest
            raise BuildError(f"{path} is not what the lock file means: its checksum is {digest}, expected {pinned}")
        quality: dict[str, Json] = {"route": self.route, "compiler": _first_line(order, [go, "version"])}
        return Material(prefix=into / "prefix", artifacts=tuple(artifacts), quality=quality, advice=_ADVICE)


class Npm:
    """Programs of a package for Node; its scripts run only where the spec says `scripts: true`."""

    route = "npm"

    def describe(self, source: Mapping[str, Json]) -> str:
        return _describe(self.route, source)

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        name, version = str(source[self.route]), str(source["version"])
        npm, prefix = require(order, "npm"), into / "prefix"
        archive = into / ".archive"
        for folder in (archive, prefix):
            folder.mkdir()
        pack = [npm, "pack", f"{name}@{version}", "--ignore-scripts", f"--pack-destination={archive}"]
        _install(self.route, order, self.describe(source), pack)
        (file,) = archive.iterdir()
        artifact = Artifact(name, version, verify_checksum(file, source, order))
        shutil.rmtree(archive)
        scripts = [] if source.get("scripts") == "true" else ["--ignore-scripts"]
        argv = [npm, "install", f"--prefix={prefix}", "--no-audit", "--no-fund", "--install-links", *scripts]
        _install(self.route, order, self.describe(source), [*argv, f"{name}@{version}"])
        lock = json.loads((prefix / "package-lock.json").read_text(encoding="utf-8"))
        for file in (prefix / "package-lock.json", prefix / "package.json"):
            file.unlink()
        packages = {path.rpartition("node_modules/")[2]: entry for path, entry in lock["packages"].items() if path}
        needed = [Artifact(key, str(entry["version"]), "") for key, entry in sorted(packages.items()) if key != name]
        node = _first_line(order, [require(order, "node"), "--version"])
        return Material(
            prefix=prefix,
            artifacts=(artifact, *needed),
            quality={"route": self.route, "node": node},
            advice=_ADVICE,
        )


def _describe(route: str, source: Mapping[str, Json]) -> str:
    return f"{route} {source[route]} {source.get('version', '')}".rstrip()


def _install(route: str, order: Order, item: str, argv: Sequence[str], variables: Mapping[str, str] = {}) -> None:
    """Run a client; where it reaches no registry, once more with what its cache holds."""
    output, status = "", 0
    for offline in ({}, _OFFLINE[route]):
        began = order.commands.log.stat().st_size if order.commands.log.exists() else 0
        environment = {**order.environment, **variables, **offline}
        status = order.commands.compile(argv, REGISTRY_SECONDS, env=environment)
        with order.commands.log.open("rb") as log:
            log.seek(began)
            output = output or log.read().decode(errors="replace")
        if status == 0:
            return
        if not re.search(UNREACHABLE, output):
            break
    raise explain_client(route, item.removeprefix(f"{route} "), CommandResult(status, output, ""), _COMPLAINTS[route])


def _first_line(order: Order, argv: Sequence[str]) -> str:
    return order.commands.run(argv, _SECONDS, quiet=True).stdout.partition("\n")[0]
