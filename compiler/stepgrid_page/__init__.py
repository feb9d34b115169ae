"""How a report looks, and never what it says: web page, charts, site, Markdown, JSON, what CI takes."""

from stepgrid.cli.commands import HERE, Command

SITE = Command("its results", "site", "write a static site of experiments: index, pages, tables, feed",
               "stepgrid_page.static_site", HERE)  # fmt: skip
