"""Variables whose values look like secrets: plans, records and reports have a digest in place of the value."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache

WORDS = frozenset(
    [
        *("APIKEY", "CREDENTIAL", "CREDENTIALS", "KEY", "KEYS", "PASSPHRASE", "PASSWD", "PASSWORD", "PASSWORDS"),
        *("PWD", "SECRET", "SECRETS", "TOKEN", "TOKENS"),
    ]
)
ROUNDS = 100_000  # of the digest: a guess costs about 30 ms
DIGEST_BYTES = 8
_DIGEST = re.compile(r"secret, digest ([0-9a-f]{16})", re.ASCII)
_SHORT = 4  # characters: shorter values are words of any text
_revealed: dict[str, str] = {}  # value -> its digest: those that this process has read, whatever their variables' names


class Secret(str):
    """The digest that a plan has; beside it the value, until the plan is written."""

    __slots__ = ("value",)
    value: str

    @classmethod
    def of(cls, name: str, value: str) -> Secret:
        secret = cls(digest_secret(name, value))
        secret.value = value
        return secret


def is_secret(name: str) -> bool:
    """Tell it by a word of the name; PWD alone is the working folder."""
    return name != "PWD" and not WORDS.isdisjoint(re.split(r"[^A-Z0-9]+", name.upper()))


def must_hide(name: str, names: Collection[str]) -> bool:
    """Decide if a variable is a secret. `names`: those that the spec declares."""
    return name in names or is_secret(name)


def is_digest(value: object) -> bool:
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def hide_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    return {
        name: digest_secret(name, str(value))
        if is_secret(name) and not is_digest(value)
        else _revealed.get(value, value)
        for name, value in variables.items()
    }


@cache
def digest_secret(name: str, value: str) -> str:
    """Digest a value alike on all hosts, so that two runs with other values differ."""
    key = hashlib.pbkdf2_hmac("sha256", value.encode(), f"stepgrid {name}".encode(), ROUNDS, DIGEST_BYTES)
    return f"secret, digest {key.hex()}"


# In a plan, and where a job needs the values


def seal(variables: Mapping[str, object], names: Collection[str] = ()) -> dict[str, str]:
    """Replace secrets by digests that have the values beside them. `names`: further variables."""
    return {
        name: Secret.of(name, str(value)) if must_hide(name, names) or is_digest(value) else str(value)
        for name, value in variables.items()
    }


def reveal(variables: Mapping[str, str], read: Callable[[str], str]) -> dict[str, str]:
    """Replace digests by values. `read`: the value of a file name; LookupError: there is none."""
    values = dict(variables)
    for name, digest in variables.items():
        if is_digest(digest):
            values[name] = value = read(secret_name(digest))
            _revealed[value] = digest
    return values


def secret_name(digest: str) -> str:
    """Name the file of a value by its digest."""
    return digest.rpartition(" ")[2]


def mask(text: str, secrets: Iterable[tuple[str, str, str]]) -> str:
    """Replace values in a text by digests, as YAML may write them; short ones beside their variable alone.

    `secrets`: variable, digest, value."""
    for name, digest, value in secrets:
        word = f"secret-digest-{secret_name(digest)}"  # without a comma, which YAML would read
        forms = {value, value.replace("'", "''"), value.replace("\\", "\\\\").replace('"', '\\"')} - {""}
        for form in sorted(forms, key=len, reverse=True):
            if len(value) >= _SHORT:
                text = text.replace(form, word)
            else:
                pattern = rf"({re.escape(name)}\W+?){re.escape(form)}(?!\w)"
                text = re.sub(pattern, rf"\g<1>{word}", text)
    return text


_VALUE = r"""(?!["']?secret-digest-)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,{}\[\]#"'][^\n,{}\[\]#]*)"""
_ASSIGNED = re.compile(rf"""(?<![\w.$-])([A-Z][A-Z0-9_]*)(["']?:[ \t]+){_VALUE}""", re.ASCII)


def mask_yaml(text: str) -> str:
    """Hide the values of further variables in YAML, which a plan of other cells or with `--set` does not have."""
    return _ASSIGNED.sub(lambda match: f"{match[1]}{match[2]}secret" if is_secret(match[1]) else match[0], text)


def mask_settings(sets: Iterable[str]) -> tuple[str, ...]:
    """Hide values that `--set` gives to variables."""
    texts = []
    for setting in sets:
        path, equals, value = setting.partition("=")
        *folders, name = path.split(".")
        texts.append(f"{path}=..." if "env" in folders and is_secret(name) else f"{path}{equals}{mask_yaml(value)}")
    return tuple(texts)
