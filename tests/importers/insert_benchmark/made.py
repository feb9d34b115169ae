"""Folders as the scripts of the insert benchmark leave them, made up."""

from tests.importers.made import IOSTAT, VMSTAT

HEAD = (
    "ips\tqps\trps\trmbps\twps\twmbps\trpq\trkbpq\twpi\twkbpi\tcsps\tcpups\tcspq\tcpupq\tdbgb1\tdbgb2\trss\tmaxop\tp50\t"
    "p99\ttag"
)
_FIGURES = (
    "i_sec\tt_sec\ti_ips\tt_ips\ti_dps\tt_dps\ti_qps\tt_qps\tmax_i\tmax_d\tmax_q\tt_ins\tt_del\tt_query\tretry_i\tretry_d\t"
    "retry_q"
)
_BUCKETS = ["256us", "1ms", "4ms", "16ms", "64ms", "256ms", "1s", "4s", "16s", "gt", "max"]


def times(kind, counts, longest):
    names = " ".join(f"{name:>9}" for name in _BUCKETS)
    figures = " ".join(f"{count:>9}" for count in (*counts.split(), longest))
    return f"{kind + ' rt:':>10} {names}\n{kind + ' rt:':>10} {figures}\n"


def client(inserts, queries, slow=0):
    """Ten seconds; in the last of them `slow` queries less."""
    lines = ["get_min_trxid = 1 in 0.125 seconds", "", _FIGURES]
    for second in range(1, 11):
        rate = queries - (slow if second == 10 else 0)
        done = queries * second - (slow if second == 10 else 0)
        lines.append(
            f"1.0\t{second}.0\t{inserts}\t{inserts}\t{inserts}\t{inserts}\t{rate}\t{queries}\t900\t800\t700\t"
            f"{inserts * second}\t{inserts * second}\t{done}\t0\t0\t0"
        )
    ends = [times("Insert", "3 0 0 1 0 0 0 0 0 0", "0.012345"), times("Query", "99999 0 0 0 1 0 0 0 0 0", "0.054321")]
    return "\n".join([*lines, *ends, "getmin 3 queries, 0.375 total secs, 0.125000 secs/query", ""])


def outcome(inserts, queries, rows, of_queries, rates):
    return f"""\
2 processes, 1000 rows-per-process, 12 seconds, {inserts} rows-per-second, 83.3 rows-per-second-per-user, 9 queries, \
{queries} queries-per-second, 1 deletes

iostat, vmstat normalized by insert rate
nsamp\tr/s\trMB/s\tw/s\twMB/s\tr/i\trKB/i\tw/i\twKB/i\tips
{rows}

iostat, vmstat normalized by query rate
nsamp\tr/s\trMB/s\tw/s\twMB/s\tr/q\trKB/q\tw/q\twKB/q\tqps
{of_queries}

average values from iostat for md2
r/s\trkB/s\t
4.000\t2048.0\t

dbGB\t3.456
dbdirGB\t12.345\t/data

me  1234 99.0 10.0 8388608 5242880 ?  Sl  10:00  1:00 /usr/mysqld --basedir=x
me  1234 99.0 10.0 8388608 5342880 ?  Sl  10:10  1:00 /usr/mysqld --basedir=x

Max insert
0.012
0.012
Max delete
Max query
0.054
0.054

insert, delete and query rate at nth percentile
{rates}

CPU seconds
client: 1.50 user, 0.25 system, 1.8 total
dbms: 12.0
"""


LOAD = outcome(
    "166.6",
    "0",
    "2\t2.0\t1.0\t20.0\t2.0\t0.012\t6.146\t0.120\t12.293\t166.6\n\nnsamp\tcs/s\tcpu/s\tcs/q\tcpu/q\n"
    "4\t150\t41.5\t0.900\t0.249100",
    "2\t2.0\t1.0\t20.0\t2.0\tinf\tinf\tinf\tinf\t0\n\nnsamp\tcs/s\tcpu/s\tcs/q\tcpu/q\n4\t150\t41.5\tinf\tinf",
    "50th, 5 / 10 = 100 insert, 100 delete, 0 query\n99th, 10 / 10 = 100 insert, 100 delete, 0 query",
)
QUERY = outcome(
    "166.6",
    "3330.0",
    "2\t2.0\t1.0\t20.0\t2.0\t0.012\t6.146\t0.120\t12.293\t166.6\n\nnsamp\tcs/s\tcpu/s\tcs/q\tcpu/q\n"
    "4\t150\t41.5\t0.900\t0.249100",
    "2\t2.0\t1.0\t20.0\t2.0\t0.001\t0.308\t0.006\t0.615\t3330.0\n\nnsamp\tcs/s\tcpu/s\tcs/q\tcpu/q\n"
    "4\t150\t41.5\t0.045\t0.012462",
    "50th, 5 / 10 = 100 insert, 100 delete, 2000 query\n99th, 10 / 10 = 100 insert, 100 delete, 1500 query\n"
    "50th, 5 / 10 = 100 insert, 100 delete, 2000 query\n99th, 10 / 10 = 100 insert, 100 delete, 2000 query",
)


def run(folder):
    """One configuration, one load and one step with queries, two clients."""
    for step, said, queries in (("l.i0", LOAD, 0), ("qr100.L1", QUERY, 2000)):
        place = folder / "20m.x.cy" / step
        place.mkdir(parents=True)
        (place / "o.res.dop2").write_text(said)
        (place / "o.ib.dop2.1").write_text(client(100, queries, queries // 4))
        (place / "o.ib.dop2.2").write_text(client(100, queries))
        (place / "o.io.dop2").write_text(IOSTAT)
        (place / "o.vm.dop2").write_text(VMSTAT)
    return folder


def table(*rows):
    return "".join(f"{line}\n" for line in (HEAD, *rows))
