"""Draw the pictures of the README again, from the digits that ship with scikit-learn: ``make picture``."""

from __future__ import annotations

from pathlib import Path

from graspel import GRASPEL, datasets, plot

HERE = Path(__file__).parent


def main() -> None:
    """Learn the graph of the digits, and draw it twice."""
    digits = datasets.load("digits")
    model = GRASPEL(random_state=0).fit(digits.X)
    plot.save(plot.drawing(model, digits.y, title="The learned graph of handwritten digits"), HERE / "digits.png")
    plot.save(plot.resistance(model, digits.X), HERE / "resistance.png")


if __name__ == "__main__":
    main()
