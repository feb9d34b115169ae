"""An engine of the tests' own: the Python that runs them, a real program that is everywhere."""

import re
import sys

from stepgrid.build.pins import pin
from stepgrid.language.sources import source_key
from stepgrid.model.plan import PlannedBuild
from stepgrid.plan.identity import build_id
from stepgrid.plugins.engine import Identity, OptionInfo

VERSION = sys.version.split()[0]


class Snake:
    name = "snake"
    programs: tuple[str, ...] = ("python",)
    kinds = ("command",)
    immutable = ()

    def capabilities(self, version):
        return frozenset()

    def identify(self, run):
        stdout, _ = run("python", ["--version"])
        return Identity(stdout.split()[1], ("slow on purpose",), False, {"said": stdout.strip()})

    def catalogue(self, run):
        stdout, _ = run("python", ["-E", "--help"])
        found = re.findall(r"^(-\w)\s+: (.+)", stdout, re.MULTILINE)
        return {name: OptionInfo(name, "bool", "false", text) for name, text in found}


def planned(program=sys.executable, version=VERSION):
    source = {"system": program}
    held = pin(source)
    node = build_id("snake", version, source, held)
    pins = {source_key(source): held}
    return PlannedBuild(node, "snake-1", "snake", version, source, "specs/x.yaml:4:3", pin=held, pins=pins)
