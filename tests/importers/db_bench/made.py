"""Folders as benchmark_compare.sh and benchmark.sh leave them, made up."""

from stepgrid_importers.db_bench.reports import COLUMNS, HEAD

PLAIN = {
    "ops_sec": "1000", "mb_sec": "0.4", "lsm_sz": "10GB", "blob_sz": "0GB", "c_wgb": "20.0", "w_amp": "5.0",
    "c_mbps": "11.4", "c_wsecs": "300", "c_csecs": "200", "b_rgb": "0", "b_wgb": "0", "usec_op": "999.0", "p50": "9.5",
    "p99": "40", "p99.9": "100", "p99.99": "2000", "pmax": "30000", "uptime": "1800", "stall%": "1.5", "Nstall": "7",
    "u_cpu": "1.2", "s_cpu": "0.3", "rss": "NA", "test": "readwhilewriting.t4", "date": "2025-12-3T18:12:30",
    "version": "7.10.2", "job_id": "", "githash": "0123456789",
}  # fmt: skip
OLD = "Sum 4/0 10.50 MB 0.0 0.1 0.2 0.3 4.0 5.0 6.0 7.0 8.0 9.0 15.50 16.40 17 0.018 19K 20K 21.4 22.6"
NEW = "Sum 4/0 10.50 MB 0.0 0.1 0.2 0.3 4.0 0.7 5.0 6.0 7.0 8.0 9.0 15.50 16.40 17 0.018 19K 20K 21.4 22.6"
_LEVELS = (
    "Level Files Size Score Read(GB) Rn(GB) Rnp1(GB) Write(GB) {}Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) "
    "CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop Rblob(GB) Wblob(GB)"
)
STALLS_OLD = (
    "Stalls(count): 1 level0_slowdown, 2 level0_slowdown_with_compaction, 4 level0_numfiles, "
    "8 level0_numfiles_with_compaction, 16 stop for pending_compaction_bytes, 32 slowdown for "
    "pending_compaction_bytes, 64 memtable_compaction, 128 memtable_slowdown, interval 0 total count"
)
STALLS_NEW = (
    "Write Stall (count): cf-l0-file-count-limit-delays-with-ongoing-compaction: 0, "
    "cf-l0-file-count-limit-stops-with-ongoing-compaction: 0, l0-file-count-limit-delays: 5, "
    "l0-file-count-limit-stops: 0, memtable-limit-delays: 0, memtable-limit-stops: 0, "
    "pending-compaction-bytes-delays: 22, pending-compaction-bytes-stops: 0, total-delays: 27, total-stops: 0"
)
RESULT = (
    "readwhilewriting :  3.456 micros/op 1157000 ops/sec 10.000 seconds 11570000 operations;  464.1 MB/s "
    "(5 of 10 found)"
)


def row(**cells):
    """A name with a dot in it: `p99_9`, as a keyword."""
    given = {name.replace("p99_", "p99.").replace("stall_", "stall%"): value for name, value in cells.items()}
    return "\t".join((PLAIN | given)[name] for name in COLUMNS)


def report(folder, *rows):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "report.tsv"
    path.write_text("# a comment\n" + "".join(f"{line}\n" for line in (HEAD, *rows)))
    return path


def log(version="7.10", result=None, shifted=False):
    level = _LEVELS.format("WPreComp(GB) " if shifted else "")
    return f"""\
RocksDB:    version {version}
Date:       Tue Mar  4 09:08:07 2025
Keys:       20 bytes each (+ 0 bytes user-defined timestamp)
Values:     400 bytes each (200 bytes after compression)
{RESULT if result is None else result}
Microseconds per read:
Count: 11570000 Average: 3.4567  StdDev: 1.00
Min: 1  Median: 3.1000  Max: 45678
Percentiles: P50: 3.10 P75: 4.00 P99: 20.60 P99.9: 99.50 P99.99: 1234.56
------------------------------------------------------

** Compaction Stats [default] **
{level}
-----------------------
 {NEW if shifted else OLD}

Uptime(secs): 11.6 total, 11.6 interval
Flush(GB): cumulative 1.000, interval 1.000
Cumulative compaction: 3.00 GB write, 265.00 MB/s write, 2.00 GB read, 176.00 MB/s read, 15.5 seconds
{STALLS_NEW if shifted else STALLS_OLD}
Blob file count: 0, total size: 0.0 GB, garbage size: 0.0 GB, space amp: 0.0

** DB Stats **
Uptime(secs): 11.6 total, 11.6 interval
Cumulative writes: 10M writes, 10M keys, 10M commit groups, 1.0 writes per commit group, ingest: 1.50 GB, 132.00 MB/s
Cumulative stall: 00:00:1.160 H:M:S, 10.0 percent
"""
