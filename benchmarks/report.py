"""The report of MNIST: how large it is, and how long a browser takes from asking for it to the drawing.

    python benchmarks/report.py

Needs GRASPEL_DATA (or the network), plotly, selenium, chromium and chromedriver. Headless, without a graphics card: the
drawing in space is rendered by the processor.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from results_file import Results, run_sections

OPENED = 5  # times, of which the fastest counts
FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader")
DRAWN = "return Boolean(document.querySelector('#drawing canvas, #drawing .scatterlayer'))"
SECONDS = "return performance.now() / 1000"


def opening(path: Path) -> float:
    """Seconds from asking for the page until its drawing is there and the browser is idle again."""
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
            return float(browser.execute_script(SECONDS))
        finally:
            browser.quit()


def mnist(results: Results) -> None:
    """Learn, write, open."""
    from results_file import print_table

    found = results.get("mnist", measured)
    rows = [
        ["size", f"{found['megabytes']:.1f} MB", "< 15 MB"],
        ["writing it", f"{found['writing']:.1f} s", ""],
        ["opening it", f"{found['opening']:.2f} s", "< 3 s"],
    ]
    print_table("The report of MNIST, 70,000 points", ["what", "measured", "wanted"], rows)


def measured() -> dict[str, float]:
    """Size in megabytes, and seconds to write and to open the report."""
    import time

    from graspel import GRASPEL, datasets

    data = datasets.load("mnist")
    model = GRASPEL(random_state=0).fit(data.X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mnist.html"
        began = time.perf_counter()
        model.report(path, labels=data.y, title="MNIST")
        writing = time.perf_counter() - began
        return {
            "megabytes": path.stat().st_size / 1e6,
            "writing": writing,
            "opening": min(opening(path) for _ in range(OPENED)),
        }


if __name__ == "__main__":
    run_sections("report", __doc__, {"mnist": mnist})
