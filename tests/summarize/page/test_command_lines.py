"""The exact commands: as somebody would type them where outputs/ is, whoever measured and wherever that was."""

from __future__ import annotations

import json

from stepgrid.summarize.page.command_lines import MANY, command, shortened

BUILD, STAGE = "b-8e5e315792f22ea2f8a0", "s-904641483eee4bf33522"


def said(argv: list[str], env: dict[str, str] | None = None) -> str:
    return command({"argv": json.dumps(argv), "env": json.dumps(env or {})})


def test_programs_of_builds_and_folders_of_steps_are_named_from_outputs_on() -> None:
    argv = [f"/srv/one/outputs/builds/{BUILD}/prefix/bin/db_bench", f"--db=/mnt/a/attempts/{STAGE}/steps/0-load/db"]
    path = {"LD_LIBRARY_PATH": f"/srv/one/outputs/builds/{BUILD}/lib:/usr/lib"}
    assert said(argv, path) == (
        f"LD_LIBRARY_PATH=outputs/builds/{BUILD}/lib:/usr/lib outputs/builds/{BUILD}/prefix/bin/db_bench"
        f" --db=outputs/attempts/{STAGE}/steps/0-load/db"
    )


def test_the_place_of_a_database_that_is_being_measured_is_shortened() -> None:
    assert said(["db_bench", f"--db=/home/ann/x/outputs/live/{STAGE}.20616/data"]) == (
        f"db_bench --db=outputs/live/{STAGE}.20616/data"
    )


def test_a_search_path_of_lua_is_shortened_in_each_of_its_places() -> None:
    place = f"/x/outputs/attempts/{STAGE}/steps/0-l.i0/?.lua"
    short = f"outputs/attempts/{STAGE}/steps/0-l.i0/?.lua"
    assert said(["sysbench", "run"], {"LUA_PATH": f"{place};{place};;"}) == f"LUA_PATH='{short};{short};;' sysbench run"


def test_a_program_of_ours_is_python_with_its_module() -> None:
    argv = ["/srv/one/.venv/bin/python", "-m", "stepgrid.drivers.vector_search", "request.json"]
    assert said(argv, {"PYTHONPATH": "/srv/one/compiler", "A": "1"}) == (
        "A=1 python -m stepgrid.drivers.vector_search request.json"
    )


def test_a_program_of_somebody_else_keeps_its_words() -> None:
    argv = ["/opt/python", "-m", "their.client", "/data/attempts/today", "/data/builds/b-1"]
    assert said(argv, {"PYTHONPATH": "/opt/lib"}) == (
        "PYTHONPATH=/opt/lib /opt/python -m their.client /data/attempts/today /data/builds/b-1"
    )


def test_of_many_commands_the_first_is_whole_and_the_others_say_what_differs() -> None:
    few = [(f"bits={bits}", f"db_bench --bits={bits} --db='my data' --n=1") for bits in range(MANY)]
    assert shortened(few) == few
    (first, *others) = shortened([*few, ("more", "db_bench --bits=1 --db='my data' --n=2"), ("other", "db_bench")])
    assert first == few[0]
    assert others[0] == ("bits=1", "… --bits=1 …")
    assert others[-2:] == [("more", "… --bits=1 … --n=2 …"), ("other", "db_bench")]
