"""Commands that go on where a report ends and no run needs: why cells differ, since when, a script that shows it."""

from stepgrid.cli.commands import BESIDE_SPEC, HERE, Command

_GROUP, _CAUSES, _MODULE = "its results", "stepgrid_investigate.causes", "stepgrid_investigate.commands"

BISECT = Command(_GROUP, "bisect", "search for the commit or release that made a figure worse", _MODULE, HERE)
COUNTERS = Command(
    *(_GROUP, "counters", "show which counters of the servers grew most, over steps or around probes"),
    *(_CAUSES, BESIDE_SPEC),
)
FLAME = Command(*(_GROUP, "flame", "draw where the CPU of one cell goes that another's does not", _CAUSES, BESIDE_SPEC))
REPRO = Command(
    *(_GROUP, "repro", "write a script that shows a difference, for who has the engine and sh alone"),
    *(_MODULE, BESIDE_SPEC),
)
