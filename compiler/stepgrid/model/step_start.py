"""What a step began with, as its server or the engine's files said before it: by name, what is kept of that."""

from __future__ import annotations

DATA, INDEX = "data_bytes", "index_bytes"  # sizes, by the metrics that they are
DEAD_ROWS, HISTORY = "dead_rows", "history_list_length"  # what is yet to be cleaned up, likewise
CACHED, CACHE = "cached_bytes", "cache_bytes"  # what the server's own cache holds, and may hold
VACUUMS, TO_VACUUM = "vacuums", "tables_to_vacuum"  # at work, and due
SAID = (DATA, INDEX, DEAD_ROWS, HISTORY, CACHED, CACHE, VACUUMS, TO_VACUUM)
ROWS = "rows"  # live rows of all tables
LEVELS = "levels"  # of an LSM tree: level -> files and bytes, of all column families
