"""The report of MNIST: its size, and the seconds that a browser takes until its text and its drawings are shown.

    python -m benchmarks.report            # continues where an earlier run stopped
    python -m benchmarks.report --fresh    # forget what earlier runs measured

Needs the data set (GRASPEL_DATA or the cache), plotly, selenium, chromium and chromedriver. The browser is newly
started, headless and without a graphics card: the processor renders the 3D drawing, which alone takes seconds.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.sections import Results, measure, run_sections, titled_table
from reproduction.data import load_data
from reproduction.timing import time_call

REPEATS = 5  # times that the page is opened, of which the fastest counts
FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader")
STAGES = ("text", "preview", "loaded", "drawing")
# A script that checks in every frame which stages have been reached.
WATCH = """
const shown = { preview: null, drawing: null };
const look = () => {
  if (shown.preview === null && document.querySelector("#preview")) shown.preview = performance.now();
  if (document.querySelector("#drawing .plot-container") && !document.querySelector("#preview"))
    shown.drawing = performance.now();
  if (shown.drawing === null) requestAnimationFrame(look);
};
requestAnimationFrame(look);
window.stages = () => [
  performance.getEntriesByType("paint")[0].startTime, shown.preview,
  performance.getEntriesByType("navigation")[0].loadEventEnd, shown.drawing,
];
"""


def time_opening(path: Path) -> list[float]:
    """Seconds from the request of the page until each stage."""
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
            stages = WebDriverWait(browser, 60).until(read_stages)
            return [stage / 1000 for stage in stages]
        finally:
            browser.quit()


def read_stages(browser: Any) -> list[float] | None:
    """When each stage was reached, in milliseconds, or None as long as one is missing."""
    stages = browser.execute_script("return window.stages()")
    return None if None in stages else stages


def mnist(results: Results) -> str:
    """Learn the graph, write its report, open it."""
    found = measure(results, "mnist", measure_report)
    rows = [
        ["size", f"{found['megabytes']:.1f} MB", "< 15 MB"],
        ["writing it", f"{found['writing']:.1f} s", ""],
        ["opening it: the text", f"{found['text']:.2f} s", "< 3 s"],
        ["opening it: the flat preview", f"{found['preview']:.2f} s", "< 3 s"],
        ["opening it: loaded", f"{found['loaded']:.2f} s", "< 3 s"],
        ["opening it: the 3D drawing", f"{found['drawing']:.2f} s", ""],
    ]
    return titled_table("The report of MNIST, 70,000 points", ["what", "measured", "wanted"], rows)


def measure_report() -> dict[str, float]:
    """Size in megabytes, and seconds to write and to open the report."""
    from graspel import GRASPEL
    from graspel.report import write_report

    data = load_data("mnist")
    model = GRASPEL(random_state=0).fit(data.X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mnist.html"
        writing = time_call(lambda: write_report(model, path, labels=data.y, title="MNIST")).seconds
        opened = [time_opening(path) for _ in range(REPEATS)]
        return {
            "megabytes": path.stat().st_size / 1e6,
            "writing": writing,
            **dict(zip(STAGES, map(min, zip(*opened, strict=True)), strict=True)),
        }


if __name__ == "__main__":
    run_sections("report", __doc__, {"mnist": mnist})
