"""Builds as a report has them: engines and clients, and which may be compared."""

from __future__ import annotations

import json
from dataclasses import replace

from stepgrid.model.plan import Axis
from stepgrid.summarize.comparisons.builds import Build, builds, caveat
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Tables
from stepgrid.summarize.notes.warnings import warnings
from tests.summarize.made import point, run

DEBIAN, SOURCE = {"route": "debian", "suite": "bookworm"}, {"route": "source", "suite": "bookworm"}
FACTS = {
    "b-e": {"name": "mariadb", "quality": json.dumps({"route": "maven", "march": "x"})},
    "b-1": {"name": "sysbench", "quality": json.dumps(DEBIAN)},
    "b-2": {"name": "sysbench.source", "quality": json.dumps(SOURCE)},
    "b-3": {"name": "lost"},
}


def _point(client: str | None, build: str = "b-e") -> Point:
    return point(replace(run("a", 0, 1.0), build="mariadb", build_id=build, client_id=client))


def _known() -> dict[str, Build]:
    runs = [each for client in ("b-1", "b-2", "b-3", None) for each in _point(client).runs]
    return builds(FACTS, runs, [Axis("build", ("mariadb",))])


def test_a_client_is_called_one() -> None:
    titles = ["mariadb", "sysbench (client)", "sysbench.source (client)", "lost (client)"]
    assert [build.title for build in _known().values()] == titles


def test_what_was_patched_says_so() -> None:
    declared = {"recipe": {"patches": [{"path": "specs/builds/patches/hack.patch", "sha256": "1"}]}}
    facts = {"b-e": {"route": "git", "declared": json.dumps(declared)}, "b-1": {"route": "git", "declared": "{}"}}
    found = builds(facts, _point(None).runs, [Axis("build", ("mariadb",))])
    assert [build.origin for build in found.values()] == ["git, patched: hack.patch", "git"]


def test_a_server_of_packages_is_called_by_the_server_s() -> None:
    names = ("mariadb-client", "mariadb-plugin-rocksdb", "libnuma1", "mariadb-server-core")
    artifacts = [{"name": name, "version": f"1:11.8.{number}"} for number, name in enumerate(names)]
    assert Build("b", "mariadb", "11.8.6", "debian", artifacts).origin == "debian, mariadb-server-core 1:11.8.3"
    assert Build("b", "sysbench", "1.0.20", "debian", artifacts[2:3]).origin == "debian, libnuma1 1:11.8.2"


def test_of_a_server_that_already_ran_little_is_known() -> None:
    qualities = [{"route": "server", "server": name, "compiler": "unknown"} for name in ("prod", "test")]
    facts = {f"b-{n}": {"route": "server", "quality": json.dumps(said)} for n, said in enumerate(qualities)}
    known = builds(facts, [], ())
    assert known["b-0"].origin == (
        "server, which already ran: its configuration, compiler, flags and patches are not known, nor who else asked it"
    )
    assert known["b-0"].told == "made as a server that already ran; compiler unknown; server prod"
    said = caveat(known, _point(None, "b-0"), _point(None, "b-1"))
    assert said == "mariadb and mariadb were built differently: server test / prod"


def test_clients_that_were_made_differently_get_no_verdict() -> None:
    known = _known()
    assert caveat(known, _point("b-1"), _point("b-1")) is None
    assert caveat(known, _point(None), _point("b-1")) is None
    ways = "made as Debian packages / compiled from source"
    said = f"the clients sysbench and sysbench.source were built differently: {ways}"
    assert caveat(known, _point("b-2"), _point("b-1")) == said
    lost = "the clients sysbench and lost: what one of them was built with is not recorded"
    assert caveat(known, _point("b-3"), _point("b-1")) == lost


def test_the_warning_holds_engines_and_clients_apart() -> None:
    known = {node: build for node, build in _known().items() if node != "b-3"}
    assert list(warnings((), known, Tables((), {}, {}))) == [
        "ratios across clients carry no verdict: the binaries were not made alike "
        "(made as Debian packages / compiled from source)"
    ]
