"""Programs of published packages for Go and Node, installed into the build by go and npm."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from stepgrid.build.error import BuildError
from stepgrid.build.fetch import verify_checksum
from stepgrid.build.recipe import Artifact, Material, Order, require
from stepgrid.model.plan import Json
from stepgrid_registries.clients import OLD_CLIENT, PROGRAM_ADVICE, HttpClient

_SECONDS = 60.0
_GO = HttpClient(
    "go",
    {
        r"requires go >= (?P<go>\S+)": f"this machine's go {OLD_CLIENT}",
        r"replace directives|exclude directives": "{item} cannot be installed by its name, because its module"
        " replaces others: use a `git` source with `command: go build …`",
        r"is not a main package|does not contain package|no matching versions|unknown revision|version is not available"
        r"|[Nn]ot [Ff]ound": "{item}: go finds no program of this name and version; a path such as"
        " HOST/MODULE/cmd/NAME and a version such as v1.2.3 are expected",
    },
    {"GOPROXY": "off"},
)
_NPM = HttpClient(
    "npm",
    {
        r"code ETARGET": "npm's registry has no {item}: check its version",
        r"code E404": "npm's registry has no {item}: check its name",
        r"code EBADENGINE": f"this machine's node {OLD_CLIENT}",
        r"code EINTEGRITY": "{item} arrived broken, with another checksum than its registry says:"
        " run the same command again",
        r"code ENOTCACHED": "npm is set to work offline, and its cache does not hold {item}",
    },
    {"npm_config_offline": "true"},
)


class Go:
    """A program of a Go module; go compares all modules with its checksum database."""

    route = "go"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"{self.route} {source[self.route]} {source.get('version', '')}".rstrip()

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        path, _, version = str(source[self.route]).partition("@")
        version = version or str(source["version"])
        version = f"v{version}" if version[0].isdigit() else version
        go, folder = require(order, "go"), into / "prefix" / "bin"
        argv = [go, "install", "-trimpath", f"{path}@{version}"]
        _GO.install(order, f"{path} {version}", argv, {"GOBIN": str(folder), "GOTOOLCHAIN": "local"})
        programs = sorted(folder.iterdir())
        facts = order.commands.run([go, "version", "-m", *map(str, programs)], _SECONDS).stdout
        modules = re.findall(r"^\t(?:mod|dep)\t(\S+)\t(\S+)\th1:(\S+)$", facts, re.MULTILINE)
        artifacts = [Artifact(name, number, base64.b64decode(digest).hex()) for name, number, digest in modules]
        if (pinned := order.pin(source)) and artifacts and artifacts[0].digest != pinned:
            digest = artifacts[0].digest
            raise BuildError(f"{path} is not what the lock file means: its checksum is {digest}, expected {pinned}")
        quality: dict[str, Json] = {"route": self.route, "compiler": order.commands.first_line([go, "version"])}
        return Material(prefix=into / "prefix", artifacts=tuple(artifacts), quality=quality, advice=PROGRAM_ADVICE)


class Npm:
    """Programs of a package for Node; its scripts run only where the spec says `scripts: true`."""

    route = "npm"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"{self.route} {source[self.route]} {source.get('version', '')}".rstrip()

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        name, version = str(source[self.route]), str(source["version"])
        npm, prefix = require(order, "npm"), into / "prefix"
        archive = into / ".archive"
        for folder in (archive, prefix):
            folder.mkdir()
        pack = [npm, "pack", f"{name}@{version}", "--ignore-scripts", f"--pack-destination={archive}"]
        _NPM.install(order, f"{name} {version}", pack)
        (file,) = archive.iterdir()
        artifact = Artifact(name, version, verify_checksum(file, source, order))
        shutil.rmtree(archive)
        scripts = [] if source.get("scripts") == "true" else ["--ignore-scripts"]
        argv = [npm, "install", f"--prefix={prefix}", "--no-audit", "--no-fund", "--install-links", *scripts]
        _NPM.install(order, f"{name} {version}", [*argv, f"{name}@{version}"])
        lock = json.loads((prefix / "package-lock.json").read_text(encoding="utf-8"))
        for file in (prefix / "package-lock.json", prefix / "package.json"):
            file.unlink()
        packages = {path.rpartition("node_modules/")[2]: entry for path, entry in lock["packages"].items() if path}
        needed = [Artifact(key, str(entry["version"]), "") for key, entry in sorted(packages.items()) if key != name]
        node = order.commands.first_line([require(order, "node"), "--version"])
        return Material(
            prefix=prefix,
            artifacts=(artifact, *needed),
            quality={"route": self.route, "node": node},
            advice=PROGRAM_ADVICE,
        )
