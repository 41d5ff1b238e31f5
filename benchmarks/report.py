"""The report of MNIST: how large it is, and how long a browser takes until its words and its drawing are there.

    python benchmarks/report.py

Needs GRASPEL_DATA (or the network), plotly, selenium, chromium and chromedriver. A browser just started, headless and
without a graphics card: the drawing in space is rendered by the processor, which alone takes seconds.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from results_file import Results, print_table, run_sections

OPENED = 5  # times, of which the fastest counts
FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader")
DRAWN = "return Boolean(document.querySelector('#drawing canvas, #drawing .scatterlayer'))"
SECONDS = "return [performance.getEntriesByType('paint')[0].startTime / 1000, performance.now() / 1000]"


def opening(path: Path) -> tuple[float, float]:
    """Seconds from asking for the page until its words are on the screen, and until its drawing is."""
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            browser.get(path.as_uri())
            WebDriverWait(browser, 60, poll_frequency=0.02).until(lambda page: page.execute_script(DRAWN))
            words, drawing = browser.execute_script(SECONDS)
            return float(words), float(drawing)
        finally:
            browser.quit()


def mnist(results: Results) -> None:
    """Learn, write, open."""
    found = results.get("mnist", measured)
    rows = [
        ["size", f"{found['megabytes']:.1f} MB", "< 15 MB"],
        ["writing it", f"{found['writing']:.1f} s", ""],
        ["opening it, words", f"{found['words']:.2f} s", "< 3 s"],
        ["opening it, drawing", f"{found['drawing']:.2f} s", "< 3 s"],
    ]
    print_table("The report of MNIST, 70,000 points", ["what", "measured", "wanted"], rows)


def measured() -> dict[str, float]:
    """Size in megabytes, and seconds to write and to open the report."""
    from graspel import GRASPEL, datasets

    data = datasets.load("mnist")
    model = GRASPEL(random_state=0).fit(data.X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mnist.html"
        began = time.perf_counter()
        model.report(path, labels=data.y, title="MNIST")
        writing = time.perf_counter() - began
        opened = [opening(path) for _ in range(OPENED)]
        return {
            "megabytes": path.stat().st_size / 1e6,
            "writing": writing,
            **dict(zip(("words", "drawing"), map(min, zip(*opened, strict=True)), strict=True)),
        }


if __name__ == "__main__":
    run_sections("report", __doc__, {"mnist": mnist})
