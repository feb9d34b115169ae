"""Provenance: host and commands; what next is in reports.yaml."""

import json

import pytest

from stepgrid.summarize.setup import MANY, StepCommand, command_line, host_line, shorten_commands

BUILD, STAGE = "b-8e5e315792f22ea2f8a0", "s-904641483eee4bf33522"
STEP = f"attempts/{STAGE}/steps/0-load"


def test_the_host_in_a_line() -> None:
    hardware = {"cpu": "Xeon", "cores": 2, "storage": {"filesystem": "ext4", "device": "vda"}}
    hosts = {f"s-{number}/1": {"kernel": "6.1", "hostname": "n1"} for number in (1, 2)}
    assert host_line(hardware, hosts) == "Xeon, 2 cores, ext4 on vda, kernel 6.1"
    assert host_line({}, hosts | {"s-3/1": {"hostname": "n2"}}) == "kernel 6.1, measured on 2 hosts"
    assert host_line({}, {}) == "not recorded"


@pytest.mark.parametrize(
    ("argv", "env", "text"),
    [
        (
            [f"/srv/one/outputs/builds/{BUILD}/prefix/bin/db_bench", f"--db=/mnt/a/{STEP}/db"],
            {"LD_LIBRARY_PATH": f"/srv/one/outputs/builds/{BUILD}/lib:/usr/lib"},
            f"LD_LIBRARY_PATH=outputs/builds/{BUILD}/lib:/usr/lib outputs/builds/{BUILD}/prefix/bin/db_bench"
            f" --db=outputs/{STEP}/db",
        ),
        (
            ["db_bench", f"--db=/home/ann/x/outputs/live/{STAGE}.20616/data"],
            {},
            f"db_bench --db=outputs/live/{STAGE}.20616/data",
        ),
        (
            ["sysbench", "run"],
            {"LUA_PATH": f"/x/{STEP}/?.lua;/x/{STEP}/?.lua;;"},
            f"LUA_PATH='outputs/{STEP}/?.lua;outputs/{STEP}/?.lua;;' sysbench run",
        ),
        (
            ["/srv/one/.venv/bin/python", "-P", "-m", "stepgrid_databases.drivers.sql", "request.json"],
            {"PYTHONPATH": "/srv/one/compiler"},
            "python -m stepgrid_databases.drivers.sql request.json",
        ),
        (
            ["/srv/one/.venv/bin/python", "-P", "-m", "stepgrid_databases.drivers.vector_search", "request.json"],
            {"PYTHONPATH": "/srv/one/compiler", "A": "1"},
            "A=1 python -m stepgrid_databases.drivers.vector_search request.json",
        ),
        (
            ["/opt/python", "-m", "their.client", "/data/attempts/today", "/data/builds/b-1"],
            {"PYTHONPATH": "/opt/lib"},
            "PYTHONPATH=/opt/lib /opt/python -m their.client /data/attempts/today /data/builds/b-1",
        ),
    ],
)
def test_commands_are_what_somebody_would_type_beside_outputs(argv: list[str], env: dict[str, str], text: str) -> None:
    assert command_line({"argv": json.dumps(argv), "env": json.dumps(env)}) == text


def test_of_many_commands_the_first_is_whole() -> None:
    few = [StepCommand(f"bits={bits}", f"db_bench --bits={bits} --db='my data' --n=1") for bits in range(MANY)]
    assert shorten_commands(few) == few
    more = [StepCommand("more", "db_bench --bits=1 --db='my data' --n=2"), StepCommand("other", "db_bench")]
    found = shorten_commands([*few, *more])
    assert found[:2] == [few[0], ("bits=1", "… --bits=1 …")]
    assert found[-2:] == [("more", "… --bits=1 … --n=2 …"), ("other", "db_bench")]
