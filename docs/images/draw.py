"""Draw pictures of the README and the pages again, from data that ship with scikit-learn: ``make picture``.

The pictures of pages are taken by chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.datasets import load_digits

from graspel import GRASPEL, plot

HERE = Path(__file__).parent


def main() -> None:
    """Learn the graph of the digits, and draw it twice; then the search for its optimum."""
    import matplotlib.pyplot as plt

    X, y = load_digits(return_X_y=True)
    model = GRASPEL(random_state=0).fit(X)
    plot.save(plot.drawing(model, y, title="The learned graph of handwritten digits"), HERE / "digits.png")
    plot.save(plot.resistance(model), HERE / "resistance.png")
    optimum = GRASPEL(weights="optimal", random_state=0).fit(X)
    _, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    plot.convergence(optimum, left, title="The search for the optimum")
    plot.resistance(optimum, right, title="Resistance and distance at the optimum")
    plot.save(right, HERE / "optimum.png")
    with TemporaryDirectory() as folder:
        subprocess.run([Path(sys.executable).with_name("graspel"), "demo", "--quiet", "-o", folder], check=True)
        photograph(Path(folder, "report.html"), HERE / "report.png", 1200, 880)


def photograph(page: Path, picture: Path, width: int, height: int) -> None:
    """Save the upper part of a page as a picture of 64 colors."""
    from PIL import Image

    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("No chromium was found, which takes the pictures of pages.")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},{height}"]
    command = [browser, *options, "--virtual-time-budget=5000", f"--screenshot={picture}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    Image.open(picture).convert("RGB").quantize(64).save(picture, optimize=True)


if __name__ == "__main__":
    main()
