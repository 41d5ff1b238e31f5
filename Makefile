# Everything runs in a virtual environment of its own, .venv; nothing else on the machine is touched.
#   make demo       install graspel and run its demonstration on the digits that ship with scikit-learn
#   make test       install what the tests need and run them
#   make test-ecosystem  install every package that we work with, and run the tests of these integrations
#   make test-cpus  run the tests as other processors would: OpenBLAS and numpy with other instructions
#   make fuzz       call everything with random hostile input (MINUTES=10 SEED=0), see fuzzing/__init__.py
#   make lint       ruff, mypy and import-linter
#   make reproduce  measure the tables and figures of the paper again (hours; ARGS="all --quick" for a first look)
#   make tables     write the tables of measured numbers in the pages, from docs/results.json
#   make docs       build the documentation site in docs/_build/html, with the examples run; any warning is an error
#   make docs-links follow every link of the site
#   make picture    draw the pictures of the README anew
#   make clean      remove the virtual environment and the caches

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?= all
MINUTES ?= 10
SEED ?= 0

# Two test processes with one BLAS thread each: more would only get in each other's way.
PYTEST := OPENBLAS_NUM_THREADS=$${threads:-1} OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

# The core types of OpenBLAS that this machine can play, from an old one without AVX to its own.
CPUS ?= Prescott Nehalem Sandybridge Haswell Zen $(shell grep -qs avx512f /proc/cpuinfo && echo SkylakeX)

.PHONY: demo test test-ecosystem test-cpus fuzz lint reproduce tables docs docs-links picture clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.installed-core
	$(BIN)/graspel demo

test: $(VENV)/.installed-test
	$(PYTEST)

test-ecosystem: $(VENV)/.installed-test-ecosystem
	$(PYTEST) tests/ecosystem tests/test_docs.py tests/cli/test_tables_as_people_have_them.py

# Everything runs, the examples of src included. Prescott and Nehalem stand for old machines: numpy does without AVX2
# and FMA3 there too (X86_V3 is their newer name), and BLAS has two threads, so that sums are split elsewhere.
test-cpus: $(VENV)/.installed-test
	@set -e; for cpu in $(CPUS); do \
	  without=; threads=1; case $$cpu in Prescott|Nehalem) without="AVX2 FMA3 X86_V3"; threads=2;; esac; \
	  echo "OPENBLAS_CORETYPE=$$cpu NPY_DISABLE_CPU_FEATURES=\"$$without\" OPENBLAS_NUM_THREADS=$$threads"; \
	  OPENBLAS_CORETYPE=$$cpu NPY_DISABLE_CPU_FEATURES="$$without" $(PYTEST) -q; \
	done

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

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .pytest_cache .hypothesis build dist docs/_build docs/gallery docs/reference/generated

# The stamps are renewed only when pyproject.toml changes.
$(VENV)/.installed-core: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.installed-test $(VENV)/.installed-test-ecosystem $(VENV)/.installed-dev $(VENV)/.installed-bench $(VENV)/.installed-docs: $(VENV)/.installed-%: pyproject.toml | $(BIN)/python
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
