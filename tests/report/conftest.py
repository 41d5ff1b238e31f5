"""What the tests of the report share: a fitted model, hostile labels, and a browser."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from graspel import GRASPEL
from graspel.report.contents import gather_contents
from graspel.report.inputs import check_inputs

# What Debian's packages start with as root, without a screen and without a graphics card.
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--enable-unsafe-swiftshader",
    "--window-size=1280,900",
    "--hide-scrollbars",
)

HOSTILE = [
    "<script>window.harmed = 1</script>",
    "</script><script>window.harmed = 2</script>",
    "<img src=x onerror='window.harmed = 3'>",
    '" onload="window.harmed = 4" x=\'',
    "<!-- <a href='javascript:window.harmed=5'>click</a>",
    "%{x} ${title} $title & 🎉 \u2028 \u202e",
    "x" * 10_000,
    "",
]


def gather(model, **given):
    """The contents of a report."""
    return gather_contents(check_inputs(model, **given))


@pytest.fixture(scope="session")
def blobs():
    """Eight blobs of 15 points, a little apart."""
    X, y = make_blobs(120, 5, centers=8, cluster_std=0.6, random_state=0)
    return X, y


@pytest.fixture(scope="session")
def model(blobs):
    """A learner that joined components and added critical edges."""
    return GRASPEL(edge_ratio=0.01, tol=10.0, max_iter=20, random_state=0).fit(blobs[0])


@pytest.fixture(scope="session")
def hostile_labels(blobs):
    return np.array(HOSTILE, dtype=object)[blobs[1]]


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A headless Chromium, with its console and its requests on record."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: pip install selenium")
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no browser: chromium and chromedriver are not installed (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    except Exception as error:
        pytest.skip(f"the browser does not start here: {str(error).splitlines()[0]}")
    started.get("about:blank")
    yield started
    started.quit()
