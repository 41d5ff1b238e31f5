# Everything runs in a virtual environment of its own, .venv; nothing else on the machine is touched.
#   make demo     install graspel and run its demonstration on the digits that ship with scikit-learn
#   make test     install what the tests need and run them
#   make lint     ruff and mypy
#   make picture  draw the pictures of the README anew
#   make clean    remove the virtual environment and the caches

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint picture clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.installed-core
	$(BIN)/graspel demo

# Two test processes with one BLAS thread each: more would only get in each other's way.
test: $(VENV)/.installed-test
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

picture: $(VENV)/.installed-core
	$(BIN)/python docs/images/draw.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist

# The stamps are renewed only when pyproject.toml changes.
$(VENV)/.installed-core: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.installed-test $(VENV)/.installed-dev: $(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	@touch $@

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "graspel needs Python 3.11 or newer, and '$(PYTHON)' was not found." \
	       "Install it, or name yours: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "graspel needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." \
	       "Install a newer one, or name yours: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "'$(PYTHON) -m venv' failed, see above. On Debian and Ubuntu the package python3-venv brings it." >&2; \
	  exit 1; }
