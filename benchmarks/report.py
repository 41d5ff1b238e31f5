"""The report of MNIST: how large it is, and how long a browser takes until its words and its drawings are there.

    python benchmarks/report.py

Needs GRASPEL_DATA (or the network), plotly, selenium, chromium and chromedriver. A browser just started, headless and
without a graphics card: the drawing in space is rendered by the processor, which alone takes seconds.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from results_file import Results, print_table, run_sections

OPENED = 5  # times, of which the fastest counts
FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader")
STAGES = ("words", "sketch", "loaded", "drawing")
# Looks in every frame the browser shows.
WATCH = """
const shown = { sketch: null, drawing: null };
const look = () => {
  if (shown.sketch === null && document.querySelector("#sketch")) shown.sketch = performance.now();
  if (document.querySelector("#drawing .plot-container") && !document.querySelector("#sketch"))
    shown.drawing = performance.now();
  if (shown.drawing === null) requestAnimationFrame(look);
};
requestAnimationFrame(look);
window.stages = () => [
  performance.getEntriesByType("paint")[0].startTime, shown.sketch,
  performance.getEntriesByType("navigation")[0].loadEventEnd, shown.drawing,
];
"""


def opening(path: Path) -> list[float]:
    """Seconds from asking for the page until each stage."""
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
            browser.get(path.as_uri())
            stages = WebDriverWait(browser, 60).until(all_stages)
            return [stage / 1000 for stage in stages]
        finally:
            browser.quit()


def all_stages(browser: Any) -> list[float] | None:
    """When each stage was reached, in milliseconds, or None as long as one is missing."""
    stages = browser.execute_script("return window.stages()")
    return None if None in stages else stages


def mnist(results: Results) -> None:
    """Learn, write, open."""
    found = results.get("mnist", measured)
    rows = [
        ["size", f"{found['megabytes']:.1f} MB", "< 15 MB"],
        ["writing it", f"{found['writing']:.1f} s", ""],
        ["opening it: words", f"{found['words']:.2f} s", "< 3 s"],
        ["opening it: the points, still flat", f"{found['sketch']:.2f} s", "< 3 s"],
        ["opening it: loaded, says the browser", f"{found['loaded']:.2f} s", "< 3 s"],
        ["opening it: the drawing that turns", f"{found['drawing']:.2f} s", ""],
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
            **dict(zip(STAGES, map(min, zip(*opened, strict=True)), strict=True)),
        }


if __name__ == "__main__":
    run_sections("report", __doc__, {"mnist": mnist})
