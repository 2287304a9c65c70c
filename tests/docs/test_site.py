"""The built site in a real browser: no page is wider than its window, no element runs off, no picture is missing.

`pictures/` holds a page of each part of the site, both widths: `python -m tests.docs.test_site` builds the site and makes them.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from scripts.browse_site import browser, pages_of, problems_of, take_pictures

ROOT = Path(__file__).parents[2]
PICTURES = Path(__file__).parent / "pictures"
#: A page of each part of the site.
PICTURED = [
    "index.html",
    *(
        f"{page}/index.html"
        for page in ("quickstart", "reading", "commands", "object-stores", "options", "reference/table", "format/timeline")
    ),
]
needs_browser = pytest.mark.skipif(browser() is None, reason="no Chromium on this machine")

PAGE = '<!doctype html><meta charset="utf-8"><article>{}</article>'
TABLE = '<table style="width:900px"><tr><td>wide</td></tr></table>'
GOOD = PAGE.format(f'<div style="overflow-x:auto">{TABLE}</div>')
BAD = PAGE.format(f'{TABLE}<img src="none.png">')


def _built(site: Path) -> Path:
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", site], cwd=ROOT, check=True, timeout=300)
    return site


@pytest.mark.slow
@needs_browser
def test_pages_that_do_not_fit_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "index.html").write_text(BAD, "utf-8")
    (tmp_path / "good.html").write_text(GOOD, "utf-8")
    problems = problems_of(tmp_path)
    assert "bad/index.html at 390: <table> runs off the page: wide" in problems
    assert "bad/index.html: picture none.png is missing" in problems
    assert not [problem for problem in problems if "good" in problem or "1280" in problem]


@pytest.mark.slow
@needs_browser
@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="the extra docs is not installed")
def test_every_page_of_the_site_fits_a_telephone_and_a_desktop(tmp_path: Path) -> None:
    site = _built(tmp_path / "site")
    assert len(pages_of(site)) > 60
    assert problems_of(site) == []
    for picture in take_pictures(site, tmp_path / "pictures", PICTURED):
        assert picture.stat().st_size > 10_000
        assert (PICTURES / picture.name).exists(), "python -m tests.docs.test_site makes it"


def _make_pictures() -> None:
    with tempfile.TemporaryDirectory() as folder:
        site = _built(Path(folder) / "site")
        take_pictures(site, PICTURES, PICTURED)


if __name__ == "__main__":
    _make_pictures()
