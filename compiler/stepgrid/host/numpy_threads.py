"""One thread for numpy: the others that its library begins wait busily at first, a tenth of a second of CPU."""

from __future__ import annotations

import os


def alone() -> None:
    """Before numpy is imported; never in a process that starts engines or clients: they would inherit it."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
