"""The installed package: its version, and the files that belong to the code.

These lie in `data/` of an installed package, or at the top of a checkout.
"""

import sys
from pathlib import Path

__version__ = "0.1.0"

# Starts a module of ours. -P: the current folder, such as a stranger's checkout with a json.py, has no modules for it.
INTERPRETER = (sys.executable, "-P", "-m")

PACKAGE = Path(__file__).absolute().parent
DATABASES = PACKAGE.parent / "stepgrid_databases"  # our plug-ins
INVESTIGATE = PACKAGE.parent / "stepgrid_investigate"  # likewise: designs, and what reports conclude
BESIDE = (
    *("answers", "conformance", "inspect", "investigate", "judge", "page", "published", "registries", "share", "slurm"),
)
CODE = (PACKAGE, DATABASES, *(PACKAGE.parent / f"stepgrid_{name}" for name in BESIDE))
DATA = PACKAGE / "data" if (PACKAGE / "data").is_dir() else PACKAGE.parents[1]
SNAKEFILE, SPECS, TEMPLATES, PROFILES = DATA / "Snakefile", DATA / "specs", DATA / "templates", DATA / "profiles"
MODULE = DATA / "workflow" / "Snakefile"  # of other workflows
