"""The folder with the files that belong to the code: `data/` in an installed package, the top of a checkout."""

from pathlib import Path

PACKAGE = Path(__file__).absolute().parents[1]
DATA = PACKAGE / "data" if (PACKAGE / "data").is_dir() else PACKAGE.parents[1]
SNAKEFILE, SPECS, TEMPLATES, PROFILES = DATA / "Snakefile", DATA / "specs", DATA / "templates", DATA / "profiles"
