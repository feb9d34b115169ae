"""Setup of a report: what builds have, in words; arms and steps are in reports.yaml."""

import json

import pytest

from stepgrid.store.paths import SUMMARY_PAGE, SUMMARY_TEXT
from stepgrid.summarize.setup import Defaults, host_line
from stepgrid_page.html_page import MANY_COMMANDS, StepCommand, command_line, shorten_commands
from tests.cases import rows
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

# Builds

OLD, NEW = scenario.OLD, scenario.NEW
LIBRARY = {"route": "library", "assertions": False, "compiler": "GCC 7.3.1"}
SOURCE = {"route": "source", "assertions": True, "compiler": "GCC 12.2.0", "march": "native"}


def measured(root, *builds):
    """Measure two builds with these catalogues of defaults or qualities: return defaults, text and page."""
    found = Experiment(root, builds=(OLD, NEW), caches=("lru",), threads=("1",), loads=1, base={"build": OLD})
    for build, fields in zip((OLD, NEW), builds, strict=True):
        found.add_build(build, **fields)
        file = found.store.build(f"b-{build}") / "build.json"
        file.write_text(file.read_text().replace(f'"name": "{build}"', '"name": "what-another-spec-called-it"'))
        found.add_load(build, 0)
        found.add(build, "lru", "1", 0, {"readww": 10_000, "overwrite": 20_000})
    report = scenario.report(found)
    text, page = (next(root.rglob(name)).read_text(encoding="utf-8") for name in (SUMMARY_TEXT, SUMMARY_PAGE))
    assert [build.name for build in report.setup.builds.values()] == [OLD, NEW]
    assert "what-another-spec-called-it" not in text + page
    return report.setup.defaults, text, page


def test_defaults_that_differ_of_options_that_are_left_alone(tmp_path):
    """cache_type is what every step but the load sets; benchmarks is the driver's."""
    old = {"readahead": "0", "same": "1", "gone": "1", "benchmarks": "a", "empty": "", "cache_type": "x", "k": "0"}
    new = {"readahead": "2097152", "same": "1.0", "new": "1", "benchmarks": "b", "empty": "z", "cache_type": "y"}
    found, text, page = measured(tmp_path, {"defaults": old}, {"defaults": new | {"k": "2.5169999999999999"}})
    assert (found.base, found.compared) == (OLD, (NEW,))
    assert found.rows == (("empty", ("", "z")), ("k", ("0", "2.517")), ("readahead", ("0", "2097152")))
    title = f"defaults that differ from those of {OLD}, of options that the spec leaves alone"
    lines = text.splitlines()
    assert lines[lines.index(title) + 2] == f"  {NEW}: empty empty -> z; k 0 -> 2.517; readahead 0 -> 2097152"
    assert f"3 option defaults changed by {NEW} against {OLD} (listed below)" in page
    assert "<tr><th>readahead</th><th>0</th><th>2097152</th></tr>" in page


def test_a_library_is_labelled_and_gets_no_verdict_beside_a_compiled_one(tmp_path):
    _, text, page = measured(tmp_path, {"quality": LIBRARY}, {"quality": SOURCE})
    words = " ".join(text.split())
    assert f"{OLD}: 6.11.4 (debian, rocksdb-tools 6.11.4-1, the official library; only db_bench is compiled)" in words
    assert f"no verdict: {OLD} and {NEW} were built differently: assertions no / yes" in words
    assert "quality: made as compiled from source; compiler GCC 12.2.0; -march native; assertions yes" in page


def test_changes_of_defaults():
    rows = (
        ("optimizer_switch", ("mrr=on,hash_join=off,semijoin=on", "mrr=on,hash_join=on,semijoin=on,skip_scan=on")),
        ("plugins", ("a,b,c", "c,b,a")),
        ("pair", ("a,b", "a,c")),
        ("log_file", ("{basedir}/data/x.log", "/var/lib/x.log")),  # places of files are no difference
        ("relay_log", ("", "{hostname}-relay-bin")),
    )
    assert Defaults("old", ("new",), rows).changes("new") == [
        "optimizer_switch -hash_join=off +hash_join=on +skip_scan=on",
        "plugins in another order",
        "pair a,b -> a,c",
    ]
    found = Defaults("a", ("b", "c", "d"), (("x", ("0", "1", "2", "1")), ("y", ("0", "0", "0", "0"))))
    assert found.groups() == [(("b", "d"), ["x 0 -> 1"]), (("c",), ["x 0 -> 2"])]


BUILD, STAGE = "b-8e5e315792f22ea2f8a0", "s-904641483eee4bf33522"


def test_the_host_in_a_line():
    hardware = {"cpu": "Xeon", "cores": 2, "storage": {"filesystem": "ext4", "device": "vda"}}
    hosts = {f"s-{number}/1": {"kernel": "6.1", "hostname": "n1"} for number in (1, 2)}
    assert host_line(hardware, hosts) == "Xeon, 2 cores, ext4 on vda, kernel 6.1"
    assert host_line({}, hosts | {"s-3/1": {"hostname": "n2"}}) == "kernel 6.1, measured on 2 hosts"
    assert host_line({}, {}) == "not recorded"
    clients = {"client_hostname": "n3", "client_cores": "8", "client_tls": "false"}
    network = {"network_rtt_us": "212.4", "network_bytes_per_s": "1175000000.0"}
    line = "clients on another machine (8 cores, 0.21 ms, 9.4 Gbit/s, no TLS)"
    assert host_line({}, {"s-1/1": {**clients, **network}}) == line
    partly = {**clients, **network, "client_tls": '"in part"', "client_address": "10.0.0.2"}
    assert host_line({}, {"s-1/1": partly}) == line.replace("no TLS", "TLS in part")


@pytest.mark.parametrize(("argv", "env", "text"), rows(__file__, "commands"))
def test_commands_are_what_somebody_would_type_beside_outputs(argv, env, text):
    assert command_line({"argv": json.dumps(argv), "env": json.dumps(env)}) == text


def test_of_many_commands_the_first_is_whole():
    few = [StepCommand(f"bits={bits}", f"db_bench --bits={bits} --db='my data' --n=1") for bits in range(MANY_COMMANDS)]
    assert shorten_commands(few) == few
    more = [StepCommand("more", "db_bench --bits=1 --db='my data' --n=2"), StepCommand("other", "db_bench")]
    found = shorten_commands([*few, *more])
    assert found[:2] == [few[0], ("bits=1", "… --bits=1 …")]
    assert found[-2:] == [("more", "… --bits=1 … --n=2 …"), ("other", "db_bench")]
