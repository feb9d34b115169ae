"""`--strict`: a command that ends with a status of its own when a claim of the spec fails."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from stepgrid.errors import CLAIM_FAILED, FINE

if TYPE_CHECKING:
    from stepgrid.summarize.report import Report

FAILS, UNDECIDED = "fails", "undecided"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Two options without a value: with an optional one, `--strict SPEC` would take the spec for it."""
    said = f"end with status {CLAIM_FAILED} when a claim of the spec fails"
    parser.add_argument("--strict", action="store_const", const=FAILS, help=said)
    more = f"end with status {CLAIM_FAILED} also when a claim is undecided"
    parser.add_argument("--strict=undecided", dest="strict", action="store_const", const=UNDECIDED, help=more)


def status(found: Report, strict: str | None) -> int:
    """The claims that do not let it pass, on stderr."""
    refused = {FAILS: (FAILS,), UNDECIDED: (FAILS, UNDECIDED)}.get(strict or "", ())
    wrong = [claim for claim in found.claims if claim.result in refused]
    for claim in sorted(wrong, key=lambda each: refused.index(each.result)):
        print(f"this claim {'fails' if claim.result == FAILS else 'is undecided'}: {claim.claim}", file=sys.stderr)
    return CLAIM_FAILED if wrong else FINE
