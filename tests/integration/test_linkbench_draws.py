"""What LinkBench draws, on sysbench's own LuaJIT and without a server: links, ids, operations and sizes as defined."""

import json
import math
import re
import subprocess

import pytest

from stepgrid.build.record import programs
from stepgrid.package import TEMPLATES
from stepgrid.run.attempt import attach
from stepgrid_databases.drivers.linkbench.settings import MIX
from stepgrid_databases.drivers.sysbench.lua_client import SEARCH, client_files
from tests.integration.sysbench import record

DRAWS = 300_000
HEAD = """\
local random_stream = require("random_stream")
local stream = random_stream(7, 2)
local function counted(draws, draw)
   local counts = {}
   for _ = 1, draws do local value = draw(); counts[value] = (counts[value] or 0) + 1 end
   return counts
end
local function write(counts)
   local parts = {}
   for value, count in pairs(counts) do parts[#parts + 1] = ('"%s": %d'):format(value, count) end
   local file = io.open("drawn.json", "w")
   file:write("{", table.concat(parts, ", "), "}")
   file:close()
end
"""
EMPTY = "\nfunction event() return true end\n"


@pytest.fixture(scope="module")
def sysbench(server_builds):
    return programs(record(server_builds, "sysbench")[0])["sysbench"]


def _drawn(sysbench, folder, lua):
    attach(folder, {**client_files("linkbench"), "draws.lua": HEAD + lua + EMPTY})
    argv = [*sysbench, "draws.lua", "--events=1", "run"]
    done = subprocess.run(argv, cwd=folder, env=SEARCH, capture_output=True, text=True, timeout=60)
    assert (folder / "drawn.json").exists(), done.stdout + done.stderr
    return json.loads((folder / "drawn.json").read_text())


@pytest.mark.parametrize("exponent", [0.8, 0.741, 0.625, 0.606])
def test_ranks_by_zipf(sysbench, tmp_path, exponent):
    lua = f'local rank = require("zipf")(1000, {exponent})\nwrite(counted({DRAWS}, function() return rank(stream) end))'
    found = {int(rank): count for rank, count in _drawn(sysbench, tmp_path, lua).items()}
    assert set(found) == set(range(1000))
    whole = math.fsum(rank**-exponent for rank in range(1, 1001))
    for ranks in (range(1), range(1, 10), range(10, 100), range(100, 1000)):
        expected = math.fsum((rank + 1) ** -exponent for rank in ranks) / whole
        assert sum(found[rank] for rank in ranks) / DRAWS == pytest.approx(expected, rel=0.02)


def test_links_of_the_ids_are_distributed_as_published(sysbench, tmp_path):
    """The table in link_counts.lua, by all ids of a graph; with a link of each of two types at least."""
    lua = """
local of, id = require("link_counts")(100000, 2), 0
write(counted(100000, function() id = id + 1; return of.of(id) end))
"""
    found = {int(links): count for links, count in _drawn(sysbench, tmp_path, lua).items()}
    text = (TEMPLATES / "linkbench" / "link_counts.lua").read_text()
    more = [(int(links), float(percent)) for links, percent in re.findall(r"\{(\d+), ([\d.e-]+)\}", text)]
    assert len(more) == 37
    for links, percent in more:
        if links % 2 and links > 1 and percent > 0.05:  # of each type the half, without its fraction
            share = sum(count for each, count in found.items() if each > links // 2) / 1000
            assert share == pytest.approx(percent, rel=0.02), links
    assert min(found) == 1


def test_the_mix(sysbench, tmp_path):
    text = ",".join(f"{name}:{percent}" for name, percent in MIX.items())
    lua = f"""
local choose = require("request_mix")("{text}", stream)
write(counted(100000, function() return choose().name end))
"""
    found = _drawn(sysbench, tmp_path, lua)
    assert found.keys() == MIX.keys()
    for name, percent in MIX.items():
        assert found[name] / 1000 == pytest.approx(percent, abs=1)
