"""The columns of the table `levels`: what an engine says of each level of its tree, over the time that it was open."""

from __future__ import annotations

from collections.abc import Mapping

GB = "printed in tenths of a GiB"
ABOUT: Mapping[str, str] = {
    "family": "column family, where the engine has such",
    "level": "L0, L1 …; Sum: of all of them; Int: of them since the statistics before these; NULL: of a priority",
    "priority": "of the threads that did the work: Low (compactions), High (flushes) …; NULL: of a level",
}

LEVELS: Mapping[str, str] = {
    "files": "live files",
    "compacting_files": "those of them that are being compacted",
    "bytes": "size of the live files",
    "score": "how full the level is: from 1 on it is compacted",
    "read_bytes": f"what compactions into this level read; {GB}",
    "read_own_bytes": f"that part of it that was read from the level above; {GB}",
    "read_next_bytes": f"that part of it that was read from this level; {GB}",
    "write_bytes": f"what flushes and compactions wrote into this level; {GB}",
    "write_uncompressed_bytes": f"the same before compression (from RocksDB 10.3); {GB}",
    "write_new_bytes": f"write_bytes less read_next_bytes; {GB}",
    "moved_bytes": f"files that came here without being read; {GB}",
    "write_amplification": "write_bytes over what came from above, as RocksDB has it",
    "read_mb_per_s": "MiB of read_bytes per second of compaction",
    "write_mb_per_s": "MiB of write_bytes per second of compaction",
    "seconds": "wall time of the jobs together",
    "cpu_seconds": "CPU time of the jobs together",
    "compactions": "flushes and compactions done",
    "average_seconds": "seconds over compactions",
    "keys_in": "keys read, rounded as RocksDB prints it",
    "keys_dropped": "keys dropped, rounded likewise",
    "blob_read_bytes": f"blobs read; {GB}",
    "blob_write_bytes": f"blobs written; {GB}",
}
