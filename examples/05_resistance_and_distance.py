"""
Does resistance estimate distance?
==================================

Take every edge as an electrical conductor. The method promises that effective resistance estimates the squared distance
in the data. Here it is measured.
"""

from sklearn.datasets import load_digits

from graspel import GRASPEL, plot

X, _ = load_digits(return_X_y=True)
model = GRASPEL(random_state=0).fit(X)
axes = plot.resistance(model)

# %%
# Along edges it holds closely, between far points loosely. The certificate says so in numbers.
certificate = model.certificate_
print(f"random pairs: correlation {certificate.resistance_correlation:.2f}, ratio {certificate.resistance_ratio:.2f}")
