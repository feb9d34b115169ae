"""Results and figures that others published and no run needs: they are imported, and claims are judged by them."""

from stepgrid.cli.commands import Command

CLAIMS = Command("its results", "claims", "judge the claims of specs by figures that somebody published",
                 "stepgrid_published.commands")  # fmt: skip
PUBLISHED = Command("its results", "published", "import results of published scripts",
                           "stepgrid_published.commands")  # fmt: skip
