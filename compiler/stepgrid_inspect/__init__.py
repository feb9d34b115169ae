"""Commands that look at a spec, this host, the tables or the store, and tidy the store; a run never needs them."""

from stepgrid.cli.commands import BESIDE_SPEC, HERE, Command

# fmt: off
COMPARE = Command("its results", "compare", "compare two sets of results: specs, plans, dates, exported files",
                  "stepgrid_inspect.compare", HERE)
COMPLETION = Command("other programs", "completion", "print the shell completion script", "stepgrid_inspect.new")
DOCTOR = Command("a run", "doctor", "check this host, and show how to fix what it finds", "stepgrid_inspect.doctor")
EXPLAIN = Command("a spec", "explain",
                  "show the settings and options of one cell, and the line of the spec that sets each",
                  "stepgrid_inspect.explain")
GC = Command("its disk", "gc",
             "list unreferenced results, builds and images; move them to the trash, restore them, delete them",
             "stepgrid_inspect.disk", HERE)
IMAGES = Command("its disk", "images", "list saved databases (images), verify or remove them",
                 "stepgrid_inspect.disk", HERE)
LOCK = Command("a spec", "lock", "pin the refs and artifacts of a spec to commits and checksums",
               "stepgrid_inspect.lock")
NEW = Command("a spec", "new", "write a commented example spec", "stepgrid_inspect.new")
OUTDATED = Command("a spec", "outdated", "show which builds of a spec have newer releases", "stepgrid_inspect.lock")
PARSE = Command("its results", "parse", "show every figure of an existing output file", "stepgrid_inspect.query")
PLAN = Command("a spec", "plan", "show what a run would measure, why and for how long, and which results exist",
               "stepgrid_inspect.plan", HERE)
PLANS = Command("its results", "plans", "list the stored plans, and how much of each is measured",
                "stepgrid_inspect.results", HERE)
QUERY = Command("its results", "query", "query the tables of the results in SQL", "stepgrid_inspect.query", BESIDE_SPEC)
REDO = Command("its results", "redo", "measure stages again; their earlier results are kept",
               "stepgrid_inspect.results", BESIDE_SPEC)
RESULTS = Command("its results", "results",
                  "list all results and attempts of the stages of a spec, and which results count",
                  "stepgrid_inspect.results", BESIDE_SPEC)
RETRACT = Command("its results", "retract", "exclude a result from reports; its files are kept",
                  "stepgrid_inspect.results", BESIDE_SPEC)
SCHEMA = Command("other programs", "schema", "print the JSON Schema of specs, for editors", "stepgrid_inspect.schema")
SNAKEFILE = Command("other programs", "snakefile", "print the path of the Snakefile, for snakemake -s",
                    "stepgrid_inspect.new")
STATUS = Command("a run", "status", "show the status of every stage, during a run or after it",
                 "stepgrid_inspect.status", BESIDE_SPEC)
WATCH = Command("a run", "watch", "show the status live, with the speed of the running step",
                "stepgrid_inspect.status", BESIDE_SPEC)
# fmt: on
