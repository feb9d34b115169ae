"""The page's colours are variables, which a reader's dark mode has values of its own for."""

import re

from stepgrid.package import TEMPLATES

STYLE = "".join((TEMPLATES / "report" / name).read_text(encoding="utf-8") for name in ("chart.css", "style.css"))
ROOTS = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)


def variables(text: str) -> dict[str, str]:
    return dict(re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]+)", text))


LIGHT, DARK = (variables(ROOTS[at] + ROOTS[at + 3]) for at in (0, 1))


def test_no_colour_is_written_elsewhere() -> None:
    rest = re.sub(r":root \{.*?\}", "", STYLE, flags=re.DOTALL)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[^{}]*\})", rest) == []
    script = (TEMPLATES / "report" / "page.js").read_text(encoding="utf-8")
    assert set(re.findall(r"var\((--[a-z0-9-]+)\)", rest + script)) == set(LIGHT)


def test_light_and_dark_have_the_same_ones_and_none_is_equal() -> None:
    assert LIGHT.keys() == DARK.keys()
    assert [name for name in LIGHT if LIGHT[name] == DARK[name]] == []


def luminance(colour: str) -> float:
    """By WCAG 2.1; `#abc` is `#aabbcc`."""
    digits = colour.removeprefix("#")
    whole = digits if len(digits) == 6 else "".join(digit * 2 for digit in digits)
    parts = [int(whole[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_words_can_be_read_on_what_is_behind_them() -> None:
    """4.5 to 1, as WCAG asks for."""
    words = {
        "--paper": ("--ink", "--soft", "--better", "--worse", "--link"),
        "--card": ("--ink", "--soft", "--better", "--worse"),
        "--care": ("--ink", "--care-ink"),
        "--greyed": ("--soft",),
        **dict.fromkeys(("--less", "--more", "--code", "--lit"), ("--ink",)),
    }
    for colours in (LIGHT, DARK):
        ratios = {
            (behind, word): contrast(colours[word], colours[behind]) for behind in words for word in words[behind]
        }
        assert {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < 4.5} == {}
