"""Commands that print what a spec, this host or the tables hold; a run never needs them."""

from stepgrid.cli.commands import BESIDE_SPEC, Command

DOCTOR = Command("a run", "doctor", "check this host, and show how to fix what it finds", "stepgrid_inspect.doctor")
EXPLAIN = Command(
    *("a spec", "explain", "show the settings and options of one cell, and the line of the spec that sets each"),
    "stepgrid_inspect.explain",
)
PARSE = Command("its results", "parse", "show every figure of an existing output file", "stepgrid_inspect.query")
QUERY = Command(
    *("its results", "query", "query the tables of the results in SQL", "stepgrid_inspect.query", BESIDE_SPEC)
)
SCHEMA = Command("other programs", "schema", "print the JSON Schema of specs, for editors", "stepgrid_inspect.schema")
