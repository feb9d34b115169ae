"""`python -m stepgrid.cli`, where there is no `stepgrid` on the path."""

import sys

from stepgrid.cli import main

sys.exit(main())
