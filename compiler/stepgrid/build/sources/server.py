"""A server that already runs: nothing is fetched or built. It is asked what it is, by the site file's entry."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from stepgrid.build.error import BuildError
from stepgrid.build.source import Material
from stepgrid.build.task import Order
from stepgrid.model.plan import SERVER, Json
from stepgrid.plugins.engine import IdentityError
from stepgrid.plugins.server import ServerDescription

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


def _asked(name: str, order: Order) -> ServerDescription:
    from stepgrid.build import external_server
    from stepgrid.build.external_server import UnansweredError, connected

    try:
        found = external_server.of(order.build, order.site)
        assert found is not None
        access = external_server.access(order.build, found)
        engine = external_server.answering(order.build.engine)
        with closing(connected(engine, access, f"`{name}` ({found.place})")) as connection:
            return engine.described(connection)
    except (external_server.NoEntryError, UnansweredError) as why:
        raise BuildError(str(why)) from None
    except IdentityError as why:
        raise BuildError(f"the server `{name}` is not the build's: {why}") from None
    except OSError as why:
        raise BuildError(f"the password of the server `{name}` cannot be read: {why}") from None
