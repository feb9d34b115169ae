"""A jar of a Maven repository, by mvn as the machine has it configured; its local repository serves offline."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from stepgrid.build.compilation.toolchain import require
from stepgrid.build.error import BuildError
from stepgrid.build.source import Artifact, Material
from stepgrid.build.sources.checksum import checked
from stepgrid.build.sources.error_messages import complaint
from stepgrid.build.sources.jar import open_jar
from stepgrid.build.task import Order
from stepgrid.model.plan import Json

SECONDS = 3600.0
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"  # of any repository that serves plugins
# no question, no colours; a wrong checksum is an error; what was missing a while ago is looked for again
_OPTIONS = ("--batch-mode", "--quiet", "--strict-checksums", "--update-snapshots", "-Dstyle.color=never")
_COMPLAINTS = {
    r"offline mode and the artifact": "mvn is set to work offline, and its local repository does not hold {what}",
    r"Could not find artifact (?!org\.apache\.maven)\S+ in": "no repository of mvn's has {what}:"
    " check the group, the artifact, the version and the classifier",
    r"[Cc]hecksum validation failed": "{what} arrived broken, with another checksum than its repository says:"
    " run the same command again",
    r"Could not create local repository at (?P<folder>\S+)": "mvn cannot create its local repository {folder}:"
    " make its folder, or name another one: export MAVEN_OPTS=-Dmaven.repo.local=FOLDER",
    r"JAVA_HOME|java: not found": "mvn has no Java to run on: install one (Debian package default-jre-headless)",
}
_ADVICE = "declare the version that it says, or name another artifact"


class Maven:
    route = "maven"

    def describe(self, source: Mapping[str, Json]) -> str:
        return " ".join([self.route, str(source[self.route]), *_classifier(source)])

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        group, artifact, version = _coordinates(source)
        jar = self._download(source, into / ".jar", order)
        digest = checked(jar, source, order)
        open_jar(jar, into / "prefix")
        shutil.rmtree(into / ".jar")
        name = ":".join([group, artifact, *_classifier(source)])
        return Material(
            prefix=into / "prefix",
            artifacts=(Artifact(name, version, digest),),
            quality={"route": self.route},
            facts={"artifact": name},
            advice=_ADVICE,
        )

    def _download(self, source: Mapping[str, Json], into: Path, order: Order) -> Path:
        into.mkdir()  # of its own, so that no project of the user's is around it
        wanted = ":".join([*_coordinates(source), "jar", *_classifier(source)])
        argv = [require(order, "mvn"), *_OPTIONS, _COPY, f"-Dartifact={wanted}", f"-DoutputDirectory={into.absolute()}"]
        done = order.commands.run(argv, SECONDS, cwd=into)
        found = sorted(into.glob("*.jar"))
        if done.status or len(found) != 1:
            raise complaint("mvn", self.describe(source).removeprefix("maven "), done, _COMPLAINTS)
        return found[0]


def _coordinates(source: Mapping[str, Json]) -> list[str]:
    found = str(source["maven"]).split(":")
    if len(found) != 3:
        raise BuildError(f"`maven: {source['maven']}` names no version: write GROUP:ARTIFACT:VERSION")
    return found


def _classifier(source: Mapping[str, Json]) -> list[str]:
    return [str(source["classifier"])] if "classifier" in source else []
