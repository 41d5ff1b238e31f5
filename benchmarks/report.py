"""The report of MNIST: its size, the seconds to write and to open it, and how smoothly its map moves.

    python -m benchmarks.report            # continues where an earlier run stopped
    python -m benchmarks.report --fresh    # forget what earlier runs measured

Needs the data set (GRASPEL_DATA or the cache), openTSNE, selenium, chromium and chromedriver. The browser is newly
started, headless and without a graphics card.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.sections import Run, run_sections, titled_table
from reproduction.data import load_data

REPEATS = 3  # times that the page is opened and moved, of which the best counts
FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader")
# A script that checks in every frame whether the map has been drawn.
WATCH = """
window.firstPicture = null;
const look = () => {
  if (window.graspelReport?.map?.frames) window.firstPicture = performance.now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
# Moves and zooms the map for three seconds; the number of frames in each second.
MOVE = """
const [view, done] = arguments, page = window.graspelReport, { map } = page;
page.show(view);
map.reset();
let step = 0;
const begin = performance.now(), frames = map.frames;
const move = () => {
  map.move(step % 2 ? 3 : -3, 1);
  map.zoom(step % 40 < 20 ? 1.02 : 1 / 1.02);
  step++;
  const seconds = (performance.now() - begin) / 1000;
  if (seconds < 3) requestAnimationFrame(move);
  else done((map.frames - frames) / seconds);
};
requestAnimationFrame(move);
"""
VIEWS = {"map": "map", "edges": "map with edges", "space": "graph in space"}


def open_page(path: Path) -> dict[str, float]:
    """Seconds from the request of the page until the first picture and until all is there, and frames a second."""
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            size = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
            browser.set_script_timeout(60)
            browser.get(path.as_uri())
            first = WebDriverWait(browser, 60).until(lambda page: page.execute_script("return window.firstPicture"))
            WebDriverWait(browser, 60).until(lambda page: is_drawn(page))
            loaded = browser.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd")
            frames = {view: browser.execute_async_script(MOVE, view) for view in VIEWS}
            return {"picture": first / 1000, "loaded": loaded / 1000, **frames}
        finally:
            browser.quit()


def is_drawn(browser: Any) -> bool:
    """Whether all sections of the page are there."""
    return bool(browser.execute_script("return document.body.dataset.drawn === 'yes'"))


def mnist(results: Run) -> str:
    """Learn the graph, cluster, write the report, open and move it."""
    found = results.measure("mnist", measure_report)
    rows = [
        ["size", f"{found['megabytes']:.1f} MB", "< 15 MB"],
        ["writing it", f"{found['writing']:.1f} s", "< 60 s"],
        ["writing it, processor time of all threads", f"{found['processor']:.1f} s", ""],
        ["opening it: the first picture", f"{found['picture']:.2f} s", "< 1 s"],
        ["opening it: everything", f"{found['loaded']:.2f} s", ""],
        ["points drawn", f"{found['drawn']:,}", "70,000, or thinned and said so"],
        *([f"moving the {name}", f"{found[view]:.0f} frames/s", ">= 20"] for view, name in VIEWS.items()),
    ]
    title = "The report of MNIST, 70,000 points, with clusters, classes and thumbnails"
    return titled_table(title, ["what", "measured", "wanted"], rows)


def measure_report() -> dict[str, float]:
    """Size in megabytes, seconds to write and to open the report, and frames a second."""
    from graspel import GRASPEL, GraspelClustering, NeighborIndex, write_report
    from graspel.report.inputs import count_listed
    from graspel.report.packing import MAX_POINTS

    data = load_data("mnist")
    index = NeighborIndex(data.X, random_state=0).expect(count_listed())
    model = GRASPEL(random_state=0).fit(index)
    clusters = GraspelClustering(10, random_state=0).fit(index)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mnist.html"
        began, processor = time.monotonic(), time.process_time()
        write_report(model, path, labels=data.y, clusters=clusters, images=(28, 28), title="MNIST")
        spent = {"writing": time.monotonic() - began, "processor": time.process_time() - processor}
        opened = [open_page(path) for _ in range(REPEATS)]
        best = {name: min(one[name] for one in opened) for name in ("picture", "loaded")}
        best |= {view: max(one[view] for one in opened) for view in VIEWS}
        drawn = min(len(data.X), MAX_POINTS)
        return {"megabytes": path.stat().st_size / 1e6, "drawn": drawn, **spent, **best}


if __name__ == "__main__":
    run_sections("report", __doc__, {"mnist": mnist})
