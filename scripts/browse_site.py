"""Look at every page of the built site in a real browser: what does not fit the window, pictures that are missing, and screenshots.

    python -m scripts.browse_site [--site site] [--pictures FOLDER]

Pages are loaded by a headless Chromium, into frames of the width of a telephone and of a desktop. The status is 1 when a page
is wider than its window, an element runs off its page without a scroll bar, or a picture cannot be loaded. With `--pictures` there are
screenshots of each page in both widths.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

WIDTHS: Final = {"narrow": 390, "wide": 1280}
_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
_HEIGHTS: Final = {"narrow": 1200, "wide": 900}
#: Pages that one browser loads, which takes half a minute on a busy machine.
_PAGES_AT_ONCE: Final = 12
_TIMEOUT_S: Final = 180
#: A browser that hangs, which happens once in a hundred times, is started again.
_ATTEMPTS: Final = 3
_FRAMES: Final = "browse-frames.html"

#: Loads page after page into frames, and writes what is wrong with them into the element `problems`.
_SCRIPT: Final = """
const pages = PAGES, widths = WIDTHS;
const scrolls = element => ["auto", "scroll", "hidden"].includes(getComputedStyle(element).overflowX);
function clipped(element) {
  for (let one = element; one && one.tagName !== "BODY"; one = one.parentElement) if (scrolls(one)) return true;
  return false;
}
function problemsOf(frame, page, width) {
  const page_document = frame.contentDocument, found = [];
  const over = page_document.documentElement.scrollWidth - width;
  if (over > 1) found.push(`${page} at ${width}: ${over} pixels wider than the window`);
  for (const element of page_document.querySelectorAll("article table, article pre, article code, article img, article svg, h1, h2, h3"))
    if (element.getBoundingClientRect().right > width + 1 && element.getClientRects().length && !clipped(element))
      found.push(`${page} at ${width}: <${element.tagName.toLowerCase()}> runs off the page: ${element.textContent.trim().slice(0, 60)}`);
  for (const image of page_document.images)
    if (image.complete && !image.naturalWidth) found.push(`${page}: picture ${image.getAttribute("src")} is missing`);
  return found;
}
async function load(page, width) {
  const frame = document.createElement("iframe");
  frame.style = `width:${width}px;height:900px;border:0`;
  frame.src = page;
  document.body.append(frame);
  await new Promise(done => frame.onload = done);
  const found = problemsOf(frame, page, width);
  frame.remove();
  return found;
}
(async () => {
  const found = [];
  for (const page of pages) for (const width of widths) found.push(...await load(page, width));
  const result = document.createElement("pre");
  result.id = "problems";
  result.textContent = JSON.stringify({pages: pages.length, found});
  document.body.append(result);
})();
"""


def browser() -> str | None:
    """Return the command of a Chromium, None where there is none."""
    return next((path for name in _BROWSERS if (path := shutil.which(name))), None)


def pages_of(site: Path) -> list[str]:
    """Return the pages of a site by their paths."""
    return sorted(str(path.relative_to(site)) for path in site.rglob("*.html") if path.name not in ("404.html", _FRAMES))


def problems_of(site: Path) -> list[str]:
    """Return what is wrong with the pages of a built site, seen in the browser.

    Raises:
        RuntimeError: the browser did not come to the end.
        subprocess.TimeoutExpired: it hung in all attempts.
    """
    pages = pages_of(site)
    parts = (pages[start : start + _PAGES_AT_ONCE] for start in range(0, len(pages), _PAGES_AT_ONCE))
    return [problem for part in parts for problem in _problems_of_pages(site, part)]


def _problems_of_pages(site: Path, pages: Sequence[str]) -> list[str]:
    script = _SCRIPT.replace("PAGES", json.dumps(pages), 1).replace("WIDTHS", json.dumps(list(WIDTHS.values())), 1)
    frames = site / _FRAMES
    frames.write_text(f'<!doctype html><meta charset="utf-8"><body><script>{script}</script>', encoding="utf-8")
    try:
        with _served(site) as address:
            printed = _run(["--virtual-time-budget=100000000", "--dump-dom", f"{address}/{_FRAMES}"])
    finally:
        frames.unlink()
    match = re.search(r'<pre id="problems">(.*?)</pre>', printed, re.DOTALL)
    if match is None:
        raise RuntimeError(f"the browser did not load all pages: {printed[-500:]}")
    result = json.loads(html.unescape(match[1]))
    if result["pages"] != len(pages):
        raise RuntimeError(f"the browser loaded {result['pages']} of {len(pages)} pages")
    return list(result["found"])


def take_pictures(site: Path, folder: Path, pages: Sequence[str]) -> list[Path]:
    """Make screenshots of some pages in both widths; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    taken = []
    with _served(site) as address:
        for page in pages:
            for name, width in WIDTHS.items():
                picture = folder / f"{page.removesuffix('.html').removesuffix('/index').replace('/', '-')}-{name}.png"
                size = f"--window-size={width},{_HEIGHTS[name]}"
                _run([size, f"--screenshot={picture}", "--virtual-time-budget=5000", "--hide-scrollbars", f"{address}/{page}"])
                taken.append(picture)
    return taken


def main() -> int:
    """Check all pages, and make the pictures that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m scripts.browse_site", description=__doc__)
    parser.add_argument("--site", type=Path, default=Path("site"))
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--pages", nargs="*", help="The pages to take pictures of; all without it.")
    given = parser.parse_args()
    if browser() is None:
        print("no browser: install chromium", file=sys.stderr)
        return 2
    problems = problems_of(given.site)
    print("\n".join(problems) or "no problem", flush=True)
    if given.pictures is not None:
        take_pictures(given.site, given.pictures, given.pages or pages_of(given.site))
    return int(bool(problems))


@contextlib.contextmanager
def _served(site: Path) -> Iterator[str]:
    """Serve a folder on this machine alone, and yield its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def _run(arguments: Sequence[str]) -> str:
    command = browser()
    assert command is not None, "the caller has asked for it"
    with tempfile.TemporaryDirectory() as profile:
        base = [command, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}"]
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return subprocess.run([*base, *arguments], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False).stdout
            except subprocess.TimeoutExpired:
                if attempt == _ATTEMPTS:
                    raise
    raise AssertionError("the last attempt returns or raises")


if __name__ == "__main__":
    raise SystemExit(main())
