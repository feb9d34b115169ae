"""Results that several people share in a folder or bucket, of which nothing is ever replaced or removed."""

from stepgrid.cli.commands import Command

STORE = Command("its results", "store", "push results to a folder or bucket that others share, or pull theirs",
                "stepgrid_share.shared_folder")  # fmt: skip
