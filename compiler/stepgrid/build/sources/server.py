"""A server that already runs: nothing is fetched or built. It is asked what it is, by the site file's entry."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from stepgrid.build.declared import SERVER
from stepgrid.build.order import Order
from stepgrid.build.problem import BuildError
from stepgrid.build.sources.protocol import Material
from stepgrid.engines.protocol import IdentityError
from stepgrid.engines.serving import Described
from stepgrid.plan.model import Json

_ADVICE = "declare the version that it says"
_UNTOLD = ("compiler", "optimisation", "march")
UNKNOWN = "unknown"


class RunningServer:
    route = SERVER

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"server {source[self.route]}"

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        name = str(source[self.route])
        said = _asked(name, order)
        return Material(
            # with its name: two of which nobody knows how they were made never compare without a caveat
            quality={"route": self.route, "server": name, **dict.fromkeys(_UNTOLD, UNKNOWN)},
            described=said,
            advice=_ADVICE,
        )


def _asked(name: str, order: Order) -> Described:
    from stepgrid.run.server import entry
    from stepgrid.run.server.reach import UnansweredError, connected

    try:
        found = entry.of(order.build, order.site)
        assert found is not None
        access = entry.access(order.build, found)
        engine = entry.answering(order.build.engine)
        with closing(connected(engine, access, f"`{name}` ({found.place})")) as connection:
            return engine.described(connection)
    except (entry.NoEntryError, UnansweredError) as why:
        raise BuildError(str(why)) from None
    except IdentityError as why:
        raise BuildError(f"the server `{name}` is not the build's: {why}") from None
    except OSError as why:
        raise BuildError(f"the password of the server `{name}` cannot be read: {why}") from None
