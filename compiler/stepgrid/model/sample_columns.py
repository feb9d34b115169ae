"""The figures of each second that the table `samples` has."""

from __future__ import annotations

from stepgrid.collect.samples.gauges import AT_THE_END, AVERAGED, RESIDENT
from stepgrid.collect.samples.rates import RATES, RATIOS

PER_SECOND = (*RATES, *RATIOS, *AVERAGED, *AT_THE_END, *RESIDENT)
