"""Variables whose values look like secrets: records and reports have a digest in place of the value."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache

WORDS = frozenset(
    [
        *("APIKEY", "CREDENTIAL", "CREDENTIALS", "KEY", "KEYS", "PASSPHRASE", "PASSWD", "PASSWORD", "PASSWORDS"),
        *("PWD", "SECRET", "SECRETS", "TOKEN", "TOKENS"),
    ]
)
ROUNDS = 100_000  # of the digest: a guess costs about 30 ms
DIGEST_BYTES = 8


def is_secret(name: str) -> bool:
    """Tell it by a word of the name; PWD alone is the working folder."""
    return name != "PWD" and not WORDS.isdisjoint(re.split(r"[^A-Z0-9]+", name.upper()))


def hide_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: digest_secret(name, str(value)) if is_secret(name) else value for name, value in variables.items()}


@cache
def digest_secret(name: str, value: str) -> str:
    """Digest a value alike on all hosts, so that two runs with other values differ."""
    key = hashlib.pbkdf2_hmac("sha256", value.encode(), f"stepgrid {name}".encode(), ROUNDS, DIGEST_BYTES)
    return f"secret, digest {key.hex()}"
