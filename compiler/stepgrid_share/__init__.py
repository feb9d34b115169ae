"""Builds and results of a checkout, listed, copied and shared with others; nothing that is shared is ever removed."""

from stepgrid.cli.commands import BESIDE_SPEC, HERE, Command

BUILDS = Command("a run", "builds", "list builds, make them, compare two of them, copy one to another machine",
                 "stepgrid_share.builds", HERE)  # fmt: skip
EXPORT = Command("its results", "export", "write the results of a spec to a file, for another checkout",
                 "stepgrid_share.commands", BESIDE_SPEC)  # fmt: skip
IMPORT = Command("its results", "import", "import what another checkout exported", "stepgrid_share.commands")
STORE = Command("its results", "store", "push results to a folder or bucket that others share, or pull theirs",
                "stepgrid_share.shared_folder")  # fmt: skip
