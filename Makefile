# Everything runs in a virtual environment of its own, .venv; nothing else on the machine is touched.
#   make demo       install graspel, and report what is in the digits that ship with scikit-learn
#   make test       install what the tests need and run them, in less than five minutes
#   make test-long  run the slow tests that 'make test' leaves out
#   make test-oldest  run the tests with the oldest versions of Python and of all packages that pyproject.toml claims
#   make test-ecosystem  install every package that we work with, and run the tests of these integrations
#   make test-networkx  run networkx's own tests of the functions that our backend computes
#   make test-cpus  run the tests as other processors would: OpenBLAS and numpy with other instructions
#   make fuzz       call everything with random hostile input (MINUTES=10 SEED=0), see fuzzing/__init__.py
#   make lint       ruff, mypy and import-linter
#   make reproduce  measure the tables and figures of the paper again (hours; ARGS="all --quick" for a first look)
#   make tables     write the tables of measured numbers in the pages, from docs/results.json
#   make docs       build the documentation site in docs/_build/html, with the examples run; any warning is an error
#   make docs-links follow every link of the site
#   make picture    draw the pictures of the README anew
#   make release-check  build the packages, check them, and install and try them in empty environments
#   make clean      remove the virtual environment and the caches

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?= all
MINUTES ?= 10
SEED ?= 0

# Two test processes; tests/conftest.py limits them to one BLAS thread each.
PYTEST := $(BIN)/python -m pytest -n 2

# Without our settings of pytest.
NETWORKX_TESTS = $(BIN)/python -m pytest -n 2 -q -c /dev/null --rootdir $(VENV) -p no:cacheprovider \
  --pyargs networkx.linalg networkx.algorithms.tests.test_distance_measures

# The oldest Python that pyproject.toml claims, for test-oldest.
OLDEST_PYTHON ?= python3.11

# The core types of OpenBLAS that this machine can play, from an old one without AVX to its own.
CPUS ?= Prescott Nehalem Sandybridge Haswell Zen $(shell grep -qs avx512f /proc/cpuinfo && echo SkylakeX)

.PHONY: demo test test-long test-oldest test-ecosystem test-networkx test-cpus fuzz lint reproduce tables docs docs-links picture release-check clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.installed-core
	$(BIN)/graspel demo

test: $(VENV)/.installed-test
	$(PYTEST)

test-long: $(VENV)/.installed-test
	$(PYTEST) -m long

test-ecosystem: $(VENV)/.installed-test-ecosystem
	$(PYTEST) -m "long or not long" tests/ecosystem tests/test_docs.py tests/cli/test_tables_as_people_have_them.py

# networkx's own tests of the functions that we answer for, computed by our backend: what it declines counts as not
# implemented first, and is computed by networkx then.
test-networkx: $(VENV)/.installed-test
	NETWORKX_TEST_BACKEND=graspel $(NETWORKX_TESTS)
	NETWORKX_TEST_BACKEND=graspel NETWORKX_FALLBACK_TO_NX=1 $(NETWORKX_TESTS)

# Everything runs, the examples of src included; tests/processors.py says what makes another processor.
test-cpus: $(VENV)/.installed-test
	@set -e; for cpu in $(CPUS); do \
	  variables="$$($(BIN)/python tests/processors.py $$cpu)"; echo "$$variables"; \
	  eval "env $$variables $(PYTEST) -q"; \
	done

# Python $(OLDEST_PYTHON) and the lower bound of every requirement in pyproject.toml, in an environment of its own.
test-oldest: .venv-oldest/.installed
	.venv-oldest/bin/python -m pytest -n 2

fuzz: $(VENV)/.installed-test
	$(BIN)/python -m fuzzing --minutes $(MINUTES) --seed $(SEED)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

reproduce: $(VENV)/.installed-bench
	$(BIN)/python -m reproduction $(ARGS)

tables: $(VENV)/.installed-core
	$(BIN)/python -m reproduction.tables

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "The site is in docs/_build/html/index.html"

docs-links: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b linkcheck docs docs/_build/links

picture: $(VENV)/.installed-core
	$(BIN)/python docs/images/draw.py

release-check: | $(BIN)/python
	$(BIN)/python .ci/release_check.py

clean:
	rm -rf $(VENV) .venv-oldest .mypy_cache .ruff_cache .import_linter_cache .pytest_cache .hypothesis build dist docs/_build docs/_extra docs/gallery docs/reference/generated

# The stamps are renewed only when pyproject.toml changes.
$(VENV)/.installed-core: pyproject.toml | $(BIN)/python
	@echo "Installing graspel in $(VENV), with numpy, scipy, scikit-learn, numba and matplotlib:"
	@$(BIN)/python -m pip install --no-color --disable-pip-version-check --editable .
	@touch $@
	@echo "Installed. The first run also compiles a few loops, which takes some seconds."

$(VENV)/.installed-test $(VENV)/.installed-test-ecosystem $(VENV)/.installed-dev $(VENV)/.installed-bench $(VENV)/.installed-docs: $(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	@touch $@

.venv-oldest/.installed: pyproject.toml .ci/floors.py
	$(OLDEST_PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python .ci/floors.py test > .venv-oldest/floors.txt
	.venv-oldest/bin/python -m pip install --quiet --editable ".[test]" --constraint .venv-oldest/floors.txt
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
