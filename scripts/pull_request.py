"""Comment and check run of a pull request on GitHub, made once and updated; Python's own library alone.

`pull_request.py begin`             starts a check run, in progress, and sets the step's output `check`
`pull_request.py end MARKDOWN`      ends it by `--status` and writes the one comment, or updates it

The actions of this repository call it (action.yml, comment/action.yml). It reads the variables of a job
(GITHUB_REPOSITORY, GITHUB_API_URL, GITHUB_EVENT_PATH …) and the token from GITHUB_TOKEN. What the API refuses is a
warning of the job: the verdict is the exit status of the benchmark.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

NAME = "stepgrid"
LONGEST = 60_000  # characters; GitHub takes 65,536 of a comment or a summary
PAGE, MOST_PAGES = 100, 20  # comments of a page, pages that are searched
WAIT_S = 30
CONCLUSIONS = {"0": "success", "4": "failure"}  # exit statuses of stepgrid; any other: no figures
TITLES = {"0": "nothing that the gate refuses", "4": "refused: see the table"}


def main() -> int:
    parser = _parser()
    options = parser.parse_args()
    try:
        event = _event()
        if options.action == "begin" and "issue" in event and not options.sha:
            parser.error("the event of an issue or a comment has no commit: give --sha")
        if options.action == "begin":
            _begin(options, options.sha or _sha(event))
        else:
            _end(options, options.number or _number(event))
        return 0
    except (OSError, HTTPException, ValueError) as error:
        reason = str(error)
    except (LookupError, TypeError, AttributeError) as error:
        reason = f"not as GitHub documents it: {error!r}"
    title, text = (
        _escape(words) for words in (options.name, f"the pull request was not told: {' '.join(reason.split())}")
    )
    print(f"::warning title={title.replace(':', '%3A').replace(',', '%2C')}::{text}")
    return 0


def _escape(text: str) -> str:
    """Write a text into a command of the job, which ends with the line."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default=NAME, help="of the check and the comment: one for each name")
    parser.add_argument("--number", default="", type=_decimal, help="of the pull request (the event's)")
    parser.add_argument("--sha", default="", help="the commit that was measured (the event's)")
    parsers = parser.add_subparsers(dest="action", required=True)
    parsers.add_parser("begin")
    end = parsers.add_parser("end")
    end.add_argument("markdown", type=Path)
    end.add_argument("--status", default="", help="exit status of the benchmark")
    end.add_argument("--check", default="", type=_decimal, help="the id that `begin` printed")
    end.add_argument("--page", default="", help="address of the page of the report")
    return parser


def _decimal(text: str) -> str:
    """Refuse what would change the path of a request; empty is not given."""
    if text and not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected a decimal number, found {text!r}")
    return text


def _begin(options: argparse.Namespace, sha: str) -> None:
    check = {"name": options.name, "head_sha": sha, "status": "in_progress", "details_url": _run_page()}
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.write(f"check={_call('POST', 'check-runs', check)['id']}\n")


def _end(options: argparse.Namespace, number: str) -> None:
    text = _report(options.markdown)
    if len(text) > LONGEST:
        text = f"{text[:LONGEST].rpartition(chr(10))[0]}\n\n…\n"
    page = f"\n[Page of the report]({options.page or _run_page()})\n"
    if options.check:
        conclusion = CONCLUSIONS.get(options.status, "neutral")
        output = {"title": TITLES.get(options.status, "no verdict: see the job"), "summary": f"{text}{page}"}
        state = {"status": "completed", "conclusion": conclusion, "output": output}
        _call("PATCH", f"check-runs/{options.check}", state)
    if number:
        mark = f"<!-- {options.name} -->"
        body = {"body": f"{mark}\n{text}{page}"}
        earlier = next((comment["id"] for comment in _comments(number) if _is_ours(comment, mark)), None)
        if earlier is None:
            _call("POST", f"issues/{number}/comments", body)
        else:
            _call("PATCH", f"issues/comments/{earlier}", body)


def _report(path: Path) -> str:
    if path.is_symlink():  # to /proc/self/environ, perhaps, which has the token
        return f"No report was made: {path.name} is a link.\n"
    return path.read_text(encoding="utf-8") if path.is_file() else "No report was made.\n"


def _comments(number: str) -> Iterator[Mapping[str, Any]]:
    for page in range(1, MOST_PAGES + 1):
        comments = _call("GET", f"issues/{number}/comments?per_page={PAGE}&page={page}")
        yield from comments
        if len(comments) < PAGE:
            return


def _is_ours(comment: Mapping[str, Any], mark: str) -> bool:
    """Tell our comment from a person's, who may have quoted it."""
    return str(comment.get("body", "")).startswith(mark) and (comment.get("user") or {}).get("type") == "Bot"


def _call(method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
    address = (
        f"{os.environ.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{os.environ['GITHUB_REPOSITORY']}/{path}"
    )
    headers = {"Accept": "application/vnd.github+json", "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}"}
    data = None if body is None else json.dumps(body).encode()
    request = Request(address, data, {**headers, "Content-Type": "application/json"}, method=method)
    with urlopen(request, timeout=WAIT_S) as answer:
        return json.load(answer)


def _run_page() -> str:
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    server, repository, run = (os.environ.get(name, "") for name in names)
    return f"{server}/{repository}/actions/runs/{run}"


def _event() -> Mapping[str, Any]:
    path = os.environ.get("GITHUB_EVENT_PATH", "")
    event = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
    return event if isinstance(event, dict) else {}


def _number(event: Mapping[str, Any]) -> str:
    """Return the number of the pull request: of its own event, or of a comment below it."""
    return str(event.get("pull_request", event.get("issue", {})).get("number", ""))


def _sha(event: Mapping[str, Any]) -> str:
    """Return the head of the pull request; GITHUB_SHA is its merge with main."""
    head = event.get("pull_request", {}).get("head", {})
    return str(head.get("sha") or os.environ.get("GITHUB_SHA", ""))


if __name__ == "__main__":
    sys.exit(main())
