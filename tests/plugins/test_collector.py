"""The protocol, over all collectors; and what perf stat counted."""

from pathlib import Path

import pytest

from stepgrid.expand.checks import COLLECTOR_SETTINGS
from stepgrid.plugins.collector import Target
from stepgrid.plugins.layout import Layout
from stepgrid.plugins.registry import COLLECTORS, LAYOUTS, default_tables
from stepgrid_databases.collectors.perf_stat import FILE

TARGET = Target((7, 8), Path("/f"))
WORDS = {
    "perf_stat": "/x/perf_stat stat -j -o /f/perf.json -e cycles,instructions -p 7,8",
    "perf_record": "/x/perf_record record -F 199 --call-graph dwarf --no-buildid-cache -o /f/perf.data -p 7,8",
    "engine_state": "/x/engine_state -m stepgrid_databases.collectors.engine_state",
    "durability": "/x/durability -m stepgrid_databases.collectors.durability",
    "pidstat": "/x/pidstat -h -H -u -r -d -w -p 7,8 5",
    "iostat": "/x/iostat -t -x -y -m 5",
    "vmstat": "/x/vmstat -n -t -w 5",
}
GIVEN = {"events": ["cycles", "instructions"], "frequency": 199, "call_graph": "dwarf", "every": 5.0}
SAID = """\
# started on Sat Nov 21 15:15:17 2026

{"counter-value" : "5269.883512", "unit" : "msec", "event" : "task-clock", "pcnt-running" : 100.00}
{"counter-value" : "39.000000", "unit" : "", "event" : "cpu-migrations", "pcnt-running" : 100.00}
{"counter-value" : "<not supported>", "unit" : "", "event" : "branches", "pcnt-running" : 100.00}
{"counter-value" : "3000.000000", "unit" : "", "event" : "instructions", "pcnt-running" : 50.00}
{"counter-value" : "2000.000000", "unit" : "", "event" : "cycles", "pcnt-running" : 50.00}
{"counter-value" : "7.000000", "unit" : "", "event" : "cache-misses:k", "pcnt-running" : 50.00}
{"counter-value" : "1.0
"""
# perf_event_paranoid is 2, and the user is not root: perf asks for user mode by itself
SAID_TO_A_USER = """\
{"counter-value" : "5.818311", "unit" : "msec", "event" : "task-clock:u", "pcnt-running" : 100.00}
{"counter-value" : "0.000000", "unit" : "", "event" : "context-switches:u", "pcnt-running" : 100.00}
{"counter-value" : "0.000000", "unit" : "", "event" : "cpu-migrations:u", "pcnt-running" : 100.00}
{"counter-value" : "344.000000", "unit" : "", "event" : "page-faults:u", "pcnt-running" : 100.00}
{"counter-value" : "3000.000000", "unit" : "", "event" : "instructions:u", "pcnt-running" : 50.00}
{"counter-value" : "2000.000000", "unit" : "", "event" : "cycles:u", "pcnt-running" : 50.00}
{"counter-value" : "<not supported>", "unit" : "", "event" : "branches:u", "pcnt-running" : 100.00}
"""


@pytest.mark.parametrize("name", COLLECTORS.names())
def test_each_has_a_tool_and_settings_of_the_language(name):
    found = COLLECTORS.get(name)
    assert found.tool
    assert found.package
    assert set(found.settings) <= set(COLLECTOR_SETTINGS)
    words = " ".join(found.argv(f"/x/{name}", GIVEN, TARGET))
    assert words.replace("-a -e cpu-clock:I", "-p 7,8") == WORDS[name]  # who may sample all processors does
    assert found.argv("x", {}, TARGET)
    assert found.parse(Path("/nowhere")) == {}


def test_one_that_there_is_not():
    with pytest.raises(LookupError) as caught:
        COLLECTORS.get("perf")
    assert (
        str(caught.value)
        == "collector `perf` is not installed; `pip install PACKAGE` adds one (docs/guides/plugins.md)"
    )


def test_counts_by_name_and_what_was_not_counted_is_missing(tmp_path):
    (tmp_path / FILE).write_text(SAID)
    assert COLLECTORS.get("perf_stat").parse(tmp_path) == {
        "perf_task_clock_ms": 5269.883512,
        "perf_cpu_migrations": 39.0,
        "perf_instructions": 3000.0,
        "perf_cycles": 2000.0,
        "perf_instructions_per_cycle": 1.5,
    }


def test_counts_of_user_mode_have_their_own_names(tmp_path):
    """The kernel counts no switch or migration in user mode, and prints 0; task-clock ignores the mode."""
    (tmp_path / FILE).write_text(SAID_TO_A_USER)
    assert COLLECTORS.get("perf_stat").parse(tmp_path) == {
        "perf_task_clock_ms": 5.818311,
        "perf_user_page_faults": 344.0,
        "perf_user_instructions": 3000.0,
        "perf_user_cycles": 2000.0,
        "perf_user_instructions_per_cycle": 1.5,
    }


def test_instructions_per_cycle_are_of_one_mode(tmp_path):
    (tmp_path / FILE).write_text(SAID_TO_A_USER.replace("cycles:u", "cycles"))
    found = COLLECTORS.get("perf_stat").parse(tmp_path)
    assert not [name for name in found if name.endswith("per_cycle")]


@pytest.mark.parametrize("name", LAYOUTS.names())
def test_every_layout_is_one(name):
    assert isinstance(LAYOUTS.get(name), Layout)


def test_a_layout_that_there_is_not():
    with pytest.raises(LookupError, match=r"^layout `iostats` is not installed; "):
        LAYOUTS.get("iostats")


@pytest.mark.parametrize(
    "kind", ["db_bench", "sysbench", "insert_benchmark", "linkbench", "tpcc", "vector_search", "command"]
)
def test_what_a_kind_shows_without_being_asked_is_a_layout(kind):
    assert default_tables(kind)
    assert set(default_tables(kind)) <= set(LAYOUTS.names())
