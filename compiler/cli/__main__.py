"""`python -m compiler.cli`, where there is no `stepgrid` on the path."""

import sys

from compiler.cli import main

sys.exit(main())
