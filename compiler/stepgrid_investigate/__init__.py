"""Commands that go on where a report ends: the commit that made a figure worse, a script that shows a difference."""

from stepgrid.cli.commands import BESIDE_SPEC, HERE, Command

_MODULE = "stepgrid_investigate.commands"

BISECT = Command("its results", "bisect", "search for the commit or release that made a figure worse", _MODULE, HERE)
REPRO = Command(
    *("its results", "repro", "write a script that shows a difference, for who has the engine and sh alone"),
    *(_MODULE, BESIDE_SPEC),
)
