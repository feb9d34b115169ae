"""Pictures of how the gallery's pages begin in a browser: `python -m scripts.screenshots`, with Chromium."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser import Page, browser  # noqa: E402  # the checkout's own

GALLERY = ROOT / "docs" / "gallery"
SHOWN = ("quickstart", "2023-01-insert-benchmark-amd", "2023-08-myrocks-gc-debt")
WIDTH = 780  # pixels


def main() -> int:
    with tempfile.TemporaryDirectory() as profile, browser(Path(profile)) as page:
        for path in (GALLERY / f"{name}.html" for name in SHOWN):
            picture(page, path)
    return 0


def picture(page: Page, path: Path) -> None:
    page.open(path, width=WIDTH)
    page.picture(path.with_suffix(".png"))
    print(path.with_suffix(".png").name)


if __name__ == "__main__":
    raise SystemExit(main())
