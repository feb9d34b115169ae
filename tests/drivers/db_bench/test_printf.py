"""What is read is what was printed: of any release's columns, in any order, with unknown ones among them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid_databases.drivers.db_bench.engine_statistics import (
    FIELDS,
    compaction_levels,
    stall_figures,
    total_figures,
)
from stepgrid_databases.drivers.db_bench.output import find_result, histogram_buckets, histograms_after, result_figures
from tests.drivers.db_bench import printf
from tests.drivers.db_bench.printf import GB, MB

NEW = ("Patched(sec)", "Wextra(GB)", "Zone", "Rd(MB/s)2")
COLUMNS = {field.column: field.name for field in FIELDS if field.name not in ("bytes", "compacting_files")}
figures = st.floats(-100, 10**4).map(lambda value: round(value, 1))
volumes = st.floats(0, 400 * GB)


@st.composite
def rows(draw: st.DrawFn) -> tuple[list[str], list[printf.Row]]:
    known = draw(st.lists(st.sampled_from([*printf.FORMATS, "Size(MB)"]), unique=True, min_size=1))
    columns = draw(st.permutations([*known, *draw(st.lists(st.sampled_from(NEW), unique=True))]))
    names = draw(st.sampled_from([["L0", "L5", "Sum", "Int"], ["Sum", "Int"]]))
    return columns, [draw(row(name, columns)) for name in names]


@st.composite
def row(draw: st.DrawFn, name: str, columns: list[str]) -> printf.Row:
    counts = st.integers(0, 10**12)
    cells = {
        column: draw(counts) if column in printf.HUMAN else draw(figures) * printf.FORMATS.get(column, ("", 1))[1]
        for column in columns
    }
    return printf.Row(name, draw(st.integers(0, 99999)), draw(st.integers(0, 999)), draw(volumes), cells)


@given(rows(), st.sampled_from(["Level", "Priority"]))
def test_a_column_is_its_own_wherever_it_stands(drawn: tuple[list[str], list[printf.Row]], group: str) -> None:
    columns, given_rows = drawn
    found = compaction_levels(printf.table(given_rows, columns, group))
    label = group.lower()
    assert [each[label] for each in found] == [each.name for each in given_rows]
    for each, row_ in zip(found, given_rows, strict=True):
        known = {COLUMNS[column]: printf.printed(column, row_.cells[column]) for column in columns if column in COLUMNS}
        known |= {"files": row_.files, "compacting_files": row_.compacting}
        read = {name: value for name, value in each.items() if name not in ("family", label, "bytes")}
        assert read == pytest.approx(known)
        assert each["bytes"] == pytest.approx(row_.size, rel=0.006, abs=0.005 * MB)


@st.composite
def dumps(draw: st.DrawFn) -> printf.Totals:
    uptime = draw(st.floats(0.2, 3600).map(lambda value: round(value, 1)))
    first = draw(st.booleans())
    ingest = draw(st.floats(0, 100 * GB))
    share = 1.0 if first else draw(st.floats(0, 0.5))
    interval = uptime if first else max(0.1, round(uptime * share, 1))
    return printf.Totals(
        uptime=uptime,
        interval=interval,
        ingest=ingest,
        recent=ingest * share,
        flush=draw(volumes),
        write=draw(volumes),
        read=draw(volumes),
        keys=draw(st.integers(0, 10**11)),
    )


@given(dumps())
def test_volumes_are_at_least_as_exact_as_what_is_printed(given_: printf.Totals) -> None:
    found = total_figures(printf.dump(given_))
    half = 0.005 * GB * 1.01
    for name, value in {
        "ingest_bytes": given_.ingest,
        "wal_bytes": given_.ingest,
        "compaction_write_bytes": given_.write,
        "compaction_read_bytes": given_.read,
    }.items():
        assert found[name] == pytest.approx(value, abs=half, rel=0.0)
    assert found["flush_bytes"] == pytest.approx(given_.flush, abs=half / 10, rel=0.0)
    assert found["keys_written"] == given_.keys  # by the writes to the log
    assert total_figures(printf.dump(given_).replace(" 0 syncs", " 3 syncs"))["keys_written"] == printf.shortened(
        given_.keys
    )
    if given_.interval == given_.uptime:
        assert found["ingest_bytes"] == pytest.approx(given_.ingest, abs=0.0051 * MB, rel=0.0)


@given(dumps())
def test_counters_make_them_exact(given_: printf.Totals) -> None:
    exact = given_._replace(ingest=float(int(given_.ingest)), write=float(int(given_.flush) + int(given_.write)))
    counted = {
        "rocksdb.bytes.written": int(exact.ingest),
        "rocksdb.flush.write.bytes": int(given_.flush),
        "rocksdb.compact.write.bytes": int(given_.write),
        "rocksdb.number.keys.written": given_.keys,
    }
    found = total_figures(printf.dump(exact) + printf.tickers(counted))
    assert (found["ingest_bytes"], found["compaction_write_bytes"]) == (exact.ingest, exact.write)
    assert found["keys_written"] == given_.keys
    if exact.ingest > MB:
        assert found["write_amplification"] == pytest.approx(exact.write / exact.ingest)
    other = {name: count + 10 * int(GB) for name, count in counted.items()}
    apart = total_figures(printf.dump(exact) + printf.tickers(other))
    assert apart["ingest_bytes"] == total_figures(printf.dump(exact))["ingest_bytes"]


counts = st.fixed_dictionaries({name: st.integers(0, 10**9) for name in printf.STALLS})


@given(counts)
def test_stalls_old_and_new(given_: dict[str, int]) -> None:
    old, new = (stall_figures(printf.stalls(given_, before)) for before in (True, False))
    assert old == new
    assert new["stall_l0_compacting_stops"] == given_["cf-l0-file-count-limit-stops-with-ongoing-compaction"]


messages = st.one_of(
    st.just(("", {})),
    st.tuples(st.integers(0, 10**9), st.integers(1, 10**9)).map(
        lambda pair: (f"({pair[0]} of {pair[1]} found)\n", {"found_pct": 100 * pair[0] / pair[1]})
    ),
    st.just(("( updates:55 found:44)", {})),
    st.just(("(multiscans:7)", {})),
    st.just(("(9 of 10 found, issued 3 non-exist keys)\n", {"found_pct": 90.0})),
    st.just(("PERF_CONTEXT:\nuser_key_comparison_count = 3, block_read_count = 0", {})),
)
lines = st.builds(
    printf.Line,
    st.sampled_from(["fillseq", "readrandom", "seekrandomwhilewriting"]),
    st.integers(1, 10**10).map(lambda value: value / 1000),
    st.integers(1000, 10**9),
    st.integers(1, 10**7).map(lambda value: value / 1000),
    st.integers(1, 10**12),
    st.one_of(st.none(), st.integers(0, 10**6).map(lambda value: value / 10)),
)


@given(lines, messages, st.booleans())
def test_result_lines(line: printf.Line, message: tuple[str, dict[str, float]], old: bool) -> None:
    text, said = message
    found = result_figures(find_result(printf.result(line._replace(message=text), old), line.name), [])
    expected = {"qps": line.qps, "usec_per_op": line.usec, "qps_per_client": 1e6 / line.usec, **said}
    expected |= {} if line.rate is None else {"mb_per_s": line.rate}
    expected |= {} if old else {"seconds": line.seconds, "operations": line.operations}
    assert found == pytest.approx(expected)


@given(
    lines,
    st.tuples(*[st.integers(0, 10**6)] * 3),
    st.tuples(st.integers(0, 10**6), st.integers(1, 10**6)),
    st.booleans(),
)
def test_mixgraph(line: printf.Line, mix: tuple[int, int, int], looked: tuple[int, int], old: bool) -> None:
    counted = "( Gets:{} Puts:{} Seek:{}".format(*mix)
    tail = " of {} in {} found)" if old else ", reads {} in {} found, avg size: 34.8 value, 582.1 scan)"
    given_ = line._replace(name="mixgraph", message=counted + tail.format(*looked) + "\n")
    found = result_figures(find_result(printf.result(given_, old), "mixgraph"), [])
    rates = [found.get(f"{kind}_per_s") for kind in ("gets", "puts", "seeks")]
    assert rates == ([pytest.approx(line.qps * each / sum(mix)) for each in mix] if sum(mix) else [None] * 3)
    lookups = mix[0] if old else looked[1]
    assert found.get("found_pct") == (pytest.approx(100 * looked[0] / lookups) if lookups else None)
    assert (found.get("put_value_bytes"), found.get("scan_keys")) == ((None, None) if old else (34.8, 582.1))


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=9), st.booleans())
def test_whole_histograms(operations: list[int], old: bool) -> None:
    given_ = [(at, at + 1, count) for at, count in enumerate(operations)]
    found = histograms_after(printf.histogram("read", given_, old) + "DB path: [db]\n", 0)
    assert histogram_buckets(found) == [("", *map(list, zip(*given_, strict=True)))]
    assert found[0].count == sum(operations)


def test_of_several_kinds_of_operation_each_has_its_own() -> None:
    text = printf.histogram("read", [(0, 1, 5)], False) + printf.histogram("write", [(1, 2, 6)], False)
    found = histogram_buckets(histograms_after(text, 0))
    assert found == [("read", [0], [1], [5]), ("write", [1], [2], [6])]
