"""Jars of a Maven repository, by mvn as the machine has it configured; its local repository serves offline."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from stepgrid.build.archive import unpack
from stepgrid.build.error import BuildError
from stepgrid.build.fetch import verify_checksum
from stepgrid.build.recipe import Artifact, Material, Order, require, source_of
from stepgrid.model.plan import Json, inner_map
from stepgrid_registries.clients import REGISTRY_SECONDS, explain_client

_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"  # of any repository that serves plugins
# no question, no colours; a wrong checksum is an error; what was missing a while ago is looked for again
_OPTIONS = ("--batch-mode", "--strict-checksums", "--update-snapshots", "-Dstyle.color=never")
_STORE = re.compile(r"Using local repository at (.+)|LocalRepositoryManager with .* for (.+)")  # what --debug says
_COMPLAINTS = {
    r"offline mode and the artifact": "mvn is set to work offline, and its local repository does not hold {item}",
    r"Could not find artifact (?!org\.apache\.maven)\S+ in": "no repository of mvn's has {item}:"
    " check the group, the artifact, the version and the classifier",
    r"Failed to resolve version for (?!org\.apache\.maven)\S+": "no repository of mvn's has {item}: check the group"
    " and the artifact",
    r"[Cc]hecksum validation failed": "{item} arrived broken, with another checksum than its repository says:"
    " run the same command again",
    r"Could not create local repository at (?P<folder>\S+)": "mvn cannot create its local repository {folder}:"
    " make its folder, or name another one: export MAVEN_OPTS=-Dmaven.repo.local=FOLDER",
    r"JAVA_HOME|java: not found": "mvn has no Java to run on: install one (Debian package default-jre-headless)",
}
_ARCHIVES = (".tar.gz", ".tgz", ".txz", ".tar.xz", ".tar.bz2", ".tar.zst")
_JAVA = (".class", ".java", ".kotlin_module")
_MACHINES = {
    "x86_64": ("x86_64", "amd64", "x64"),
    "aarch64": ("aarch64", "arm64", "arm_64"),
    "ppc64le": ("ppc64le", "ppc_64", "ppc64"),
    "s390x": ("s390x",),
    "riscv64": ("riscv64",),
}


class Maven:
    route = "maven"

    def describe(self, source: Mapping[str, Json]) -> str:
        return " ".join([self.route, str(source[self.route]), *_classifier(source)])

    def list_versions(self, source: Mapping[str, Json], order: Order) -> list[str]:
        """Read what mvn keeps of its repositories' lists of an artifact; the name LATEST makes it fetch them."""
        group, artifact, *_ = str(source[self.route]).split(":")
        argv = [require(order, "mvn"), *_OPTIONS, "--debug", _COPY, f"-DoutputDirectory={order.folder}"]
        argv.append(f"-Dartifact={group}:{artifact}:LATEST:pom")
        result = order.commands.run(argv, REGISTRY_SECONDS, quiet=True)
        store, item = _STORE.search(result.stdout), f"{group}:{artifact}"
        if result.status or store is None or re.search("Could not transfer metadata", result.stdout):
            raise explain_client("mvn", item, result, _COMPLAINTS)
        folder = Path(store[1] or store[2], *group.split("."), artifact)
        lists = [ElementTree.parse(path) for path in folder.glob("maven-metadata-*.xml")]
        return [str(entry.text) for tree in lists for entry in tree.iterfind("versioning/versions/version")]

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        coordinates = str(source[self.route]).split(":")
        if len(coordinates) != 3:
            raise BuildError(f"`maven: {source[self.route]}` names no version: write GROUP:ARTIFACT:VERSION")
        source_tree = _fetch_tree(source, into / "bench", order)
        jar = self._download(source, into / ".jar", order)
        digest = verify_checksum(jar, source, order)
        open_jar(jar, into / "prefix")
        shutil.rmtree(into / ".jar")
        group, artifact, version = coordinates
        name = ":".join([group, artifact, *_classifier(source)])
        return Material(
            tree=source_tree.tree,
            prefix=into / "prefix",
            artifacts=(Artifact(name, version, digest), *source_tree.artifacts),
            quality={"route": self.route},
            facts={"artifact": name},
            advice="declare the version that it says, or name another artifact",
        )

    def _download(self, source: Mapping[str, Json], into: Path, order: Order) -> Path:
        into.mkdir()
        name = ":".join([str(source[self.route]), "jar", *_classifier(source)])
        argv = [require(order, "mvn"), *_OPTIONS, "--quiet", _COPY, f"-Dartifact={name}"]
        argv.append(f"-DoutputDirectory={into.absolute()}")
        result = order.commands.run(argv, REGISTRY_SECONDS)
        jars = sorted(into.glob("*.jar"))
        if result.status or len(jars) != 1:
            raise explain_client("mvn", self.describe(source).removeprefix("maven "), result, _COMPLAINTS)
        return jars[0]


def _fetch_tree(source: Mapping[str, Json], folder: Path, order: Order) -> Material:
    """Fetch the tree beside a jar, and before it: a library is larger than its tree, and more often at hand."""
    declared = inner_map(source, "tree")
    if not declared:
        return Material()
    folder.mkdir()
    material = source_of(declared).fetch(declared, folder, order)
    if material.tree is None:
        raise BuildError(f"{source_of(declared).describe(declared)} brings no tree to compile")
    return material


def _classifier(source: Mapping[str, Json]) -> list[str]:
    return [str(source["classifier"])] if "classifier" in source else []


def open_jar(jar: Path, prefix: Path) -> None:
    """Unpack native libraries of a jar, or the archive of programs within it that is for this machine."""
    content = prefix.with_name(f".{prefix.name}-of-jar")
    unpack(jar, content)
    _remove_java(content)
    archives = sorted(path for path in content.rglob("*") if path.name.endswith(_ARCHIVES))
    if archives:
        # some were packed with links to where they lay on the packer's machine
        unpack(_select_archive(jar.name, archives), prefix, strip=True, drop_absolute_links=True)
        shutil.rmtree(content)
    else:
        content.rename(prefix)


def _remove_java(folder: Path) -> None:
    shutil.rmtree(folder / "META-INF", ignore_errors=True)
    for name, _, files in os.walk(folder, topdown=False):
        path = Path(name)
        for file in files:
            if file.endswith(_JAVA):
                (path / file).unlink()
        if path != folder and not any(path.iterdir()):
            path.rmdir()


def _select_archive(jar: str, archives: Sequence[Path]) -> Path:
    """Choose the archive for Linux on this machine; a name without a machine fits any."""
    machine, fitting = platform.machine(), []
    for path in archives:
        name = path.name.lower()
        machines = [canonical for canonical, spellings in _MACHINES.items() if any(text in name for text in spellings)]
        if "linux" in name and machines[:1] in ([machine], []):
            fitting.append(path)
    if len(fitting) != 1:
        names = ", ".join(path.name for path in archives)
        count = "several archives" if fitting else "no archive"
        raise BuildError(f"{jar} holds {count} for Linux on {machine}; it holds: {names}")
    return fitting[0]
