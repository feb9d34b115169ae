"""What LinkBench draws, on sysbench's own LuaJIT and without a server: links, ids, operations and sizes as defined."""

from __future__ import annotations

import json
import math
import re
import subprocess
from pathlib import Path
from typing import Any

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
def sysbench(server_builds: Path) -> Any:
    return programs(record(server_builds, "sysbench")[0])["sysbench"]


def _drawn(sysbench: Any, folder: Path, lua: str) -> dict[str, int]:
    attach(folder, {**client_files("linkbench"), "draws.lua": HEAD + lua + EMPTY})
    argv = [*sysbench, "draws.lua", "--events=1", "run"]
    done = subprocess.run(argv, cwd=folder, env=SEARCH, capture_output=True, text=True, timeout=60)
    assert (folder / "drawn.json").exists(), done.stdout + done.stderr
    found: dict[str, int] = json.loads((folder / "drawn.json").read_text())
    return found


@pytest.mark.parametrize("exponent", [0.8, 0.741, 0.625, 0.606])
def test_ranks_by_zipf(sysbench: Any, tmp_path: Path, exponent: float) -> None:
    lua = f'local rank = require("zipf")(1000, {exponent})\nwrite(counted({DRAWS}, function() return rank(stream) end))'
    found = {int(rank): count for rank, count in _drawn(sysbench, tmp_path, lua).items()}
    assert set(found) == set(range(1000))
    whole = math.fsum(rank**-exponent for rank in range(1, 1001))
    for ranks in (range(1), range(1, 10), range(10, 100), range(100, 1000)):
        expected = math.fsum((rank + 1) ** -exponent for rank in ranks) / whole
        assert sum(found[rank] for rank in ranks) / DRAWS == pytest.approx(expected, rel=0.02)


def test_links_of_the_ids_are_distributed_as_published(sysbench: Any, tmp_path: Path) -> None:
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


def test_the_mix(sysbench: Any, tmp_path: Path) -> None:
    text = ",".join(f"{name}:{percent}" for name, percent in MIX.items())
    lua = f"""
local choose = require("request_mix")("{text}", stream)
write(counted(100000, function() return choose().name end))
"""
    found = _drawn(sysbench, tmp_path, lua)
    assert found.keys() == MIX.keys()
    for name, percent in MIX.items():
        assert found[name] / 1000 == pytest.approx(percent, abs=1)


OPTIONS = """
local opt = {read_exponent = 0.8, write_exponent = 0.741, node_read_exponent = 0.625, node_update_exponent = 0.606,
   read_uncorrelated = 99.5, write_uncorrelated = 95, multiget_probability = 0.382, multiget_most = 128}
local ids = require("request_ids")(opt, {ids = 1000, link_types = 2}, stream)
"""


def test_what_a_getlink_asks_for_is_geometric(sysbench: Any, tmp_path: Path) -> None:
    found = _drawn(sysbench, tmp_path, f"{OPTIONS}write(counted({DRAWS}, ids.multiget))")
    assert max(map(int, found)) <= 128
    for count in (1, 2, 3, 4):
        assert found[str(count)] / DRAWS == pytest.approx(0.382 * 0.618 ** (count - 1), rel=0.02)


def test_links_are_written_where_there_are_many_of_them_a_twentieth_of_the_time(sysbench: Any, tmp_path: Path) -> None:
    """The rest has an order of its own, in which that id is any other."""
    lua = f"""{OPTIONS}
local most = require("link_counts")(1000, 2).order.id(0)
write(counted({DRAWS}, function() return ids.link_write() == most and "most" or "other" end))
"""
    hottest = 1 / math.fsum(rank**-0.741 for rank in range(1, 1001))
    share = _drawn(sysbench, tmp_path, lua)["most"] / DRAWS
    assert 0.05 * hottest < share < 0.05 * hottest + 0.95 * hottest / 20


@pytest.mark.parametrize("count", [1, 2, 10, 1000, 65_537, 99_991])
def test_a_permutation_has_every_id_once_and_an_inverse(sysbench: Any, tmp_path: Path, count: int) -> None:
    lua = f"""
local order, rank, wrong = require("permutation")({count}, 0.618034), -1, 0
local seen = counted({count}, function()
   rank = rank + 1
   if order.rank(order.id(rank)) ~= rank then wrong = wrong + 1 end
   return order.id(rank)
end)
local ids = 0
for id in pairs(seen) do if id >= 1 and id <= {count} then ids = ids + 1 end end
write({{ids = ids, wrong = wrong}})
"""
    assert _drawn(sysbench, tmp_path, lua) == {"ids": count, "wrong": 0}


def test_a_permutation_of_very_many_ids_has_an_inverse(sysbench: Any, tmp_path: Path) -> None:
    lua = """
local count = 2147483647
local order, wrong = require("permutation")(count, 0.618034), 0
for _ = 1, 100000 do
   local id = stream.below(count) + 1
   if order.id(order.rank(id)) ~= id then wrong = wrong + 1 end
end
write({wrong = wrong})
"""
    assert _drawn(sysbench, tmp_path, lua) == {"wrong": 0}


@pytest.mark.parametrize(("kind", "median", "most"), [("LINK", 23, 254), ("NODE", 168, 1_048_575)])
def test_sizes_are_log_normal(sysbench: Any, tmp_path: Path, kind: str, median: int, most: int) -> None:
    lua = f"""
local data = require("data_text")
write(counted({DRAWS}, function() return data.size({median}, data.{kind}, stream) end))
"""
    found = {int(size): count for size, count in _drawn(sysbench, tmp_path, lua).items()}
    assert max(found) <= most
    for limit in (median // 2, median, median * 2, median * 4):
        share = sum(count for size, count in found.items() if size <= limit) / DRAWS
        expected = 0.5 * (1 + math.erf(math.log((limit + 0.5) / median) / math.sqrt(2)))
        assert share == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(("kind", "random"), [("LINK", 0.229), ("NODE", 0.7789)])
def test_data_is_random_in_part(sysbench: Any, tmp_path: Path, kind: str, random: float) -> None:
    """Parts of 128 bytes: those that are not random are parts of one text."""
    lua = f"""
local ffi, data = require("ffi"), require("data_text")
local buffer, never = ffi.new("char[128]"), {{random = 0, most = 1000}}
local known = {{}}
for _ = 1, 20000 do data.write(buffer, 128, never, stream); known[ffi.string(buffer, 128)] = true end
write(counted(20000, function()
   data.write(buffer, 128, data.{kind}, stream)
   return known[ffi.string(buffer, 128)] and "same" or "random"
end))
"""
    assert _drawn(sysbench, tmp_path, lua)["random"] / 20000 == pytest.approx(random, rel=0.02)
