"""Size of a page as a reader meets it, in Chromium: `python -m tests.measure_page PAGE.html …`.

What is inside closed details does not count, nor does the text of charts.
"""

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.browser import PHONE, Page, browser

SCREEN = 1400
HEIGHTS = {SCREEN: 900, PHONE: 844}
PART = 80  # pixels of a chart that the first screen shows at least
BUDGET = {"words": 600, "tables": 4, "charts": 12, "screens before the first chart": 1.0}
SCRIPT = """
(() => {
  const isVisible = (element) => element.checkVisibility() && element.getBoundingClientRect().width > 0;
  const charts = [...document.querySelectorAll("svg")].filter(isVisible);
  const first = charts[0];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let words = 0, before = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (parent.closest("svg, script, style, .tools, .skip, option") || !isVisible(parent)) continue;
    const count = node.textContent.split(/\\s+/).filter(Boolean).length;
    words += count;
    if (first && first.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING) before += count;
  }
  const visible = (selector) => [...document.querySelectorAll(selector)].filter(isVisible).length;
  return {
    "screens before the first chart": first ? (first.getBoundingClientRect().top + scrollY) / innerHeight : 99,
    "first chart ends in": first ? innerHeight - first.getBoundingClientRect().top - scrollY : 0,
    "words before it": before,
    words,
    tables: visible("table"),
    notes: visible(".note"),
    charts: charts.length,
    screens: document.documentElement.scrollHeight / innerHeight,
    "width": document.documentElement.scrollWidth,
  };
})()
"""


def measure(page: Page, path: Path, width: int = SCREEN) -> Mapping[str, float]:
    """Measure a page on a screen, or on a phone."""
    page.open(path, width)
    page.ask(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=HEIGHTS[width], deviceScaleFactor=1, mobile=width == PHONE,
    )  # fmt: skip
    figures: Mapping[str, float] = page.run(SCRIPT)
    return figures


def main(paths: list[str]) -> int:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, browser(Path(profile)) as page:
        for path in map(Path, paths):
            for width in HEIGHTS:
                figures = ", ".join(f"{name} {value:.3g}" for name, value in measure(page, path, width).items())
                print(f"{path.name}, {width} px: {figures}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
