"""Libraries of Python scripts, in an environment of the build's own: by uv where it is installed, else by venv and pip.

Only wheels are taken: nothing of a package runs before the script itself does. A wheel may replace the environment's
own interpreter, and has it run code as soon as it starts (`evil.pth`, `sitecustomize.py`): once wheels are installed it
is not started any more. The environment can be moved, as every build is when it is published.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from stepgrid.build.commands import CommandResult
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Artifact, Material, Order
from stepgrid.language.lock_file import content_digest
from stepgrid.language.problems import nearest
from stepgrid.language.requirements import Requirement, parse_file, parse_requirement, sorted_lines, takes_version
from stepgrid.language.sources import REQUIREMENTS, declared_libraries, required_pythons
from stepgrid.model.plan import Json
from stepgrid.model.site import Site
from stepgrid_registries.clients import REGISTRY_SECONDS, explain_client

ENVIRONMENT = "environment"  # in the build's folder
LACKING = (
    "there is neither uv nor pip for the libraries of its script: install one (`pip install uv`, or Debian package"
    " python3-pip), or name a Python that has pip as `python` under `tools:` in the site file"
)

_PIP = ("--no-input", "--disable-pip-version-check", "--progress-bar=off")
_WHEELS = "--only-binary=:all:"
_SECONDS = 300.0  # of what needs no network
_OFFERED = re.compile(
    r"requirement (?P<item>(?:[^\s=]|=(?!=))+)==(?P<version>\S++) \(from versions: (?!none)(?P<versions>[^)]+)\)"
)
_COMPLAINTS = {
    r"No module named pip": LACKING,
    r"THESE PACKAGES DO NOT MATCH THE HASHES|Hash mismatch": "a package of {item} has another checksum than the spec or"
    " its lock file says: `stepgrid lock SPEC --update` takes what its index has now",
    r"ResolutionImpossible|requirements are unsatisfiable": "{item}: these libraries want versions of each other that"
    " do not exist together; the build's log has {client}'s explanation",
    r"requirement (?P<missing>\S+) \(from versions": "the index has no wheel of {missing} for this Python: check its"
    " name and version. Source archives are not taken, as their own code would run",
    r"Because (?P<reason>(?:.|\n)+?),? (?:we can conclude|your requirements)": "{client} finds no wheels: {reason}",
}


class PythonLibraries:
    route = REQUIREMENTS

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"{self.route} {_names([*required_pythons(source), *declared_libraries(source)])}"

    def missing_client(self, site: Site) -> str:
        has_pip = "python" in site.tools or find_spec("pip") is not None
        return "" if has_pip or shutil.which(site.tool("uv")) else LACKING

    def resolve(self, source: Mapping[str, Json], order: Order) -> str:
        environment = _environment(order, order.folder / ENVIRONMENT)
        environment.create(required_pythons(source))
        return "\n".join(sorted_lines(environment.resolve(declared_libraries(source))))

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        environment = _environment(order, into / ENVIRONMENT)
        environment.create(required_pythons(source))
        version = environment.version()
        pinned = [parse_requirement(line) for line in (order.pin(source) or "").splitlines()]
        libraries = declared_libraries(source)
        packages = sorted(pinned or (environment.resolve(libraries) if libraries else []))
        if packages:
            environment.install(packages)
        environment.make_movable()
        lines = sorted_lines(packages)
        order.commands.note("\n".join(lines))
        artifacts = [
            Artifact(package.name, package.version, package.hashes[0] if len(package.hashes) == 1 else "")
            for package in packages
        ]
        resolution = Artifact(REQUIREMENTS, "", content_digest("\n".join(lines)))
        return Material(
            prefix=into / ENVIRONMENT,
            artifacts=(*artifacts, resolution),
            quality={"route": self.route, "python": version},
            facts={
                "libraries": ", ".join(f"{package.name} {package.version}" for package in packages),
                "python": version,
            },
        )


def _environment(order: Order, folder: Path) -> _Environment:
    uv = shutil.which(order.site.tool("uv"))
    return _UvEnvironment(order, folder, uv) if uv else _Environment(order, folder)


class _Environment:
    """An environment that venv makes and pip fills."""

    client = "pip"

    def __init__(self, order: Order, folder: Path) -> None:
        self._order, self._folder = order, folder
        self._host_python = order.site.tools.get("python", sys.executable)
        self.python = folder / "bin" / "python"
        self._creation = [self._host_python, "-m", "venv", "--without-pip", "--symlinks", str(folder)]

    def create(self, required: Sequence[Requirement]) -> None:
        """Make an empty one, of a Python that its scripts take."""
        self._run(self._creation, "an environment")
        version = re.sub(r"[^0-9.].*", "", self.version().split()[1])
        if refusing := [python.text for python in required if not takes_version(python, version)]:
            hint = "name another one as `python` under `tools:` in the site file"
            raise BuildError(f"the scripts require {', '.join(refusing)}, and the Python here is {version}: {hint}")

    def resolve(self, requirements: Sequence[Requirement]) -> list[Requirement]:
        """Choose one version of each library and of all that it needs, with the checksum of its wheel."""
        report = self._folder.with_suffix(".report")
        self._install(requirements, "--dry-run", "--ignore-installed", f"--report={report}")
        packages = json.loads(report.read_text(encoding="utf-8"))["install"]
        report.unlink()
        lines: list[Requirement] = []
        for package in packages:
            digest = package["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256")
            name, version = package["metadata"]["name"], package["metadata"]["version"]
            lines.append(Requirement(name, f"{name}=={version}", (digest,) if digest else ()))
        return lines

    def install(self, packages: Sequence[Requirement]) -> None:
        has_hashes = all(package.hashes for package in packages)
        self._install(packages, "--no-deps", *(["--require-hashes"] if has_hashes else []))

    def version(self) -> str:
        return self._run([str(self.python), "-VV"], "Python").stdout.strip().replace("\n", "")

    def make_movable(self) -> None:
        """Take this folder's name out of scripts, and compile the libraries, which else the first run would do."""
        argv = [self._host_python, "-I", "-S", "-m", "compileall", "-q", "-s", str(self._folder)]
        argv.append("--invalidation-mode=unchecked-hash")
        self._order.commands.run([*argv, str(self._folder / "lib")], _SECONDS)  # some packages hold what is not Python
        name = str(self._folder.absolute())
        for script in (path for path in (self._folder / "bin").iterdir() if not path.is_symlink()):
            text = script.read_bytes().decode(errors="surrogateescape")
            first, _, body = text.partition("\n")
            if name not in text:
                continue
            if first == "#!/bin/sh":  # a path too long for the kernel: three lines in place of one
                body = body.partition("\n' '''\n")[2]
            if not first.startswith("#!") or name in body:
                script.unlink()
                continue
            script.write_bytes(f"#!/usr/bin/env python\n{body}".encode(errors="surrogateescape"))
        settings = self._folder / "pyvenv.cfg"
        lines = settings.read_text(encoding="utf-8").splitlines(keepends=True)
        settings.write_text("".join(line for line in lines if name not in line), encoding="utf-8")

    def _install(self, requirements: Sequence[Requirement], *options: str) -> None:
        file = self._requirements_file(requirements)
        argv = [self._host_python, "-m", "pip", f"--python={self.python}", "install", *_PIP, _WHEELS, "--no-compile"]
        self._run([*argv, *options, f"--requirement={file}"], _names(requirements), REGISTRY_SECONDS)
        file.unlink()

    def _requirements_file(self, requirements: Sequence[Requirement]) -> Path:
        file = self._folder.with_suffix(".txt")
        file.write_text("".join(f"{line}\n" for line in sorted_lines(requirements)), encoding="utf-8")
        return file

    def _run(self, argv: Sequence[str], item: str, timeout: float = _SECONDS) -> CommandResult:
        return self._accept(self._order.commands.run(argv, timeout), item)

    def _accept(self, result: CommandResult, item: str) -> CommandResult:
        if result.status == 0:
            return result
        if offered := _OFFERED.search(result.stderr):
            hint = nearest(offered["version"], offered["versions"].split(", "))
            raise BuildError(f"the index has no {offered['item']} {offered['version']} for this Python; {hint}")
        raise explain_client(self.client, item, result, _COMPLAINTS)


class _UvEnvironment(_Environment):
    """An environment that uv makes and fills; what its cache holds is taken from there without a network."""

    client = "uv"

    def __init__(self, order: Order, folder: Path, uv: str) -> None:
        super().__init__(order, folder)
        self._uv = uv
        self._creation = [uv, "venv", "--no-python-downloads", f"--python={self._host_python}", str(folder)]

    def resolve(self, requirements: Sequence[Requirement]) -> list[Requirement]:
        file = self._requirements_file(requirements)
        argv = [
            "pip",
            "compile",
            f"--python={self.python}",
            _WHEELS,
            "--generate-hashes",
            "--no-header",
            "--no-annotate",
        ]
        output = self._fetch([*argv, "--quiet", str(file)], _names(requirements)).stdout
        file.unlink()
        return parse_file("requirements.txt", output)

    def _install(self, requirements: Sequence[Requirement], *options: str) -> None:
        file = self._requirements_file(requirements)
        argv = ["pip", "install", f"--python={self.python}", _WHEELS, "--link-mode=copy", *options]
        self._fetch([*argv, f"--requirement={file}"], _names(requirements))
        file.unlink()

    def _fetch(self, words: Sequence[str], item: str) -> CommandResult:
        """Ask the index; where that fails, use what is on this machine already."""
        result = self._order.commands.run([self._uv, *words], REGISTRY_SECONDS)
        if result.status:
            offline = self._order.commands.run([self._uv, *words, "--offline"], _SECONDS, quiet=True)
            result = offline if offline.status == 0 else result
        return self._accept(result, item)


def _names(requirements: Sequence[Requirement]) -> str:
    return ", ".join(requirement.text for requirement in requirements)
