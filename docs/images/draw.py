"""Draw pictures of the README and the pages again, from the digits that ship with scikit-learn: ``make picture``."""

from __future__ import annotations

from pathlib import Path

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


if __name__ == "__main__":
    main()
