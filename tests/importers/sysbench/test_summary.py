import pytest

from stepgrid_importers.sysbench.summaries import relative

# a published table of a full scan on three servers: cpu/o cs/o r/o rKB/o wKB/o o/s, then the ratios to the first row
SERVERS = """\
0.093496 3.256 0 0 0.006 246 my8028
0.106105 4.065 0 0 0.006 225 my8040 : 1.13 1.25 1 1 1.00 0.91
0.113878 4.344 0 0 0.006 208 my8040adv_pre : 1.22 1.33 1 1 1.00 0.85
0.101104 3.978 0 0 0.006 228 my8040adv_post : 1.08 1.22 1 1 1.00 0.93

0.018767 0.552 0 0 0.052 872 my8028
0.022533 0.800 0 0 0.013 725 my8040 : 1.20 1.45 1 1 0.25 0.83
0.022499 0.808 0 0.001 0.034 727 my8040adv_pre : 1.20 1.46 1 inf 0.65 0.83
0.019305 0.731 0 0 0.03 851 my8040adv_post : 1.03 1.32 1 1 0.58 0.98

0.222553 2.534 0 0.001 0.035 55 my8028
0.285792 7.622 0 0 0.041 43 my8040 : 1.28 3.01 1 0.00 1.17 0.78
0.246404 6.475 0 0 0.036 50 my8040adv_post : 1.11 2.56 1 0.00 1.03 0.91
"""


@pytest.mark.parametrize("server", SERVERS.split("\n\n"), ids=("dell32", "ax162-s", "bee"))
def test_ratios_that_were_published(server: str) -> None:
    base, *others = server.strip().split("\n")
    first = [float(figure) for figure in base.split()[:6]]
    for line in others:
        given, _, ratios = line.partition(" : ")
        *figures, name = given.split()
        cpu, *rest = ratios.split()
        assert relative([float(figure) for figure in figures], first, name) == "\t".join([cpu, "", *rest, name])
