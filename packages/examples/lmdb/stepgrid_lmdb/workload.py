"""The program of a step: NAME=VALUE are its settings, --NAME=VALUE are options of `lmdb.open`."""

import json
import random
import sys
import time

import lmdb  # type: ignore[import-not-found]


def option(text: str) -> "bool | int":
    return text == "true" if text in ("true", "false") else int(text)


words = dict(word.removeprefix("--").split("=", 1) for word in sys.argv[1:])
options = dict(word[2:].split("=", 1) for word in sys.argv[1:] if word.startswith("--"))
keys, batch, value = int(words["keys"]), int(words["batch"]), b"v" * int(words["value_size"])
workload, chosen = words["workload"], random.Random(int(words["seed"]))
environment = lmdb.open(words["data"], **{name: option(text) for name, text in options.items()})

began = last = time.monotonic()
end = began + float(words["duration"]) if "duration" in words else float("inf")
operations = found = commits = reported = 0
while time.monotonic() < end and (workload != "load" or operations < keys):
    numbers: "range | list[int]" = range(operations, min(keys, operations + batch))
    if workload != "load":
        numbers = [chosen.randrange(keys) for _ in range(batch)]
    with environment.begin(write=workload != "reads") as transaction:
        for number in numbers:
            key = b"%016d" % number
            found += transaction.get(key) is not None if workload == "reads" else transaction.put(key, value)
    operations, commits, now = operations + len(numbers), commits + (workload != "reads"), time.monotonic()
    if now - last >= 1:
        print(json.dumps({"second": now - began, "rate": (operations - reported) / (now - last)}), flush=True)
        last, reported = now, operations
seconds, stat = time.monotonic() - began, environment.stat()
counts = {"operations": operations, "found": found, "commits": commits, "seconds": seconds}
print(json.dumps({**counts, "depth": stat["depth"], "leaves": stat["leaf_pages"], "page": stat["psize"]}))
