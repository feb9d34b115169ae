"""Outputs as the published scripts leave them, made up."""

COMMAND = "sysbench --tables=2 --table-size=1000 --threads=4 --events=0 --mysql-password=secret x.lua run"


def sysbench(rate="400.00", mean="1.50", command=COMMAND):
    return f"""\
{command}
sysbench 1.1.0 (using bundled LuaJIT 2.1)

SQL statistics:
    queries performed:
        read:                            2000
    transactions:                        2000   ({rate} per sec.)
    queries:                             2000   ({rate} per sec.)

Throughput:
    time elapsed:                        5.0000s
    total number of events:              2000

Latency (ms):
         avg:                                    {mean}
         max:                                    4.25

"""


IOSTAT = """\
Linux 6.1.0 (a) \t03/05/2025 \t_x86_64_\t(8 CPU)

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          27.99    0.00   51.21    0.00    0.00   20.80

Device            r/s     rkB/s r_await rareq-sz     w/s     wkB/s w_await wareq-sz
md2              0.00      0.00    0.00     0.00   10.00   1024.00    1.00   102.40
sda              9.00     36.00    0.50     4.00    0.00      0.00    0.00     0.00

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          27.99    0.00   51.21    0.00    0.00   20.80

Device            r/s     rkB/s r_await rareq-sz     w/s     wkB/s w_await wareq-sz
md2              4.00   2048.00    0.50   512.00   30.00   3072.00    3.00   102.40
sda              9.00     36.00    0.50     4.00    0.00      0.00    0.00     0.00
"""
VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 6  0      0   3068      4   1260    0    0    31    40    0    0 16 10 72  2  0
 6  0      0   3068      4   1260    0    0    31    40    0  200 40 20 40  0  0
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 6  0      0   3068      4   1260    0    0    31    40    0  400 50 30 20  0  0
"""


def run(folder, test="point-query", output=None):
    folder.mkdir(parents=True, exist_ok=True)
    suffix = f"{test}.range100.pk1.dop4"
    (folder / f"sb.o.{suffix}").write_text(sysbench() if output is None else output)
    (folder / f"sb.io.{suffix}").write_text(IOSTAT)
    (folder / f"sb.vm.{suffix}").write_text(VMSTAT)
    return folder
