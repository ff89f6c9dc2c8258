PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NOTEBOOKS := $(wildcard notebooks/*.ipynb)
# The files with tests that run a second time: the others need not be read for that.
EXACT = $(sort $(shell grep -rl --include='*.py' 'mark\.exact' tests))
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

.PHONY: help lab test lint notebooks book gallery explorer browser-test interop-test cross-check fuzz corners audit conjectures latex-check derivation-check mutants bench battery docs dist-check test-lowest clean

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/ok: pyproject.toml
	@echo 'Setting up $(VENV), once: an environment with JupyterLab and all tools. It takes one to five minutes.'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --editable '.[lab]' --group dev
	command -v node >/dev/null || $(BIN)/python -m pip install --quiet --group node || echo 'no Node.js: formulas will not be checked'
	touch $@

lab: $(VENV)/ok  ## set up, then open JupyterLab on the index of the notebooks
	$(BIN)/jupyter lab $(AS_ROOT) --notebook-dir=notebooks --LabApp.default_url=/lab/tree/00_index.ipynb

# Two processes on two cores: threads inside them only wait for each other.
test: export OMP_NUM_THREADS = 1
# Compiled modules are kept: every notebook is a process that imports them again.
test: export PYTHONDONTWRITEBYTECODE =
# SymPy keeps a thousand results unless told otherwise: a derivation works out more than that, and some of them again.
test: export SYMPY_CACHE_SIZE = 10000
test: $(VENV)/ok  ## set up, then run the whole test suite, notebooks included
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
	SYMPY_GROUND_TYPES=python $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m exact $(EXACT)

lint: $(VENV)/ok  ## ruff (check and format) and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

notebooks: $(VENV)/ok  ## run every notebook, fail if it shows something else, save it (ACCEPT=1: save what changed)
	$(BIN)/python tools/run_notebooks.py $(if $(ACCEPT),--accept) $(NOTEBOOKS)

book: $(VENV)/ok  ## write the index of the notebooks and the links between them
	$(BIN)/python tools/book.py --links

gallery: $(VENV)/ok  ## draw the pictures of the README
	$(BIN)/python benchmarks/gallery.py

explorer: $(VENV)/ok  ## serve the explorer as a page of its own (Voilà)
	$(BIN)/python -m pip install --quiet --editable '.[lab,app]'
	$(BIN)/voila --Voila.ip=127.0.0.1 --VoilaConfiguration.show_tracebacks=True notebooks/02_explorer.ipynb

browser-test: $(VENV)/ok  ## open JupyterLab in a headless Chromium and use it as a person would (needs chromium)
	$(BIN)/python -m pip install --quiet --editable '.[lab,app]' --group browser
	$(BIN)/python browser/test_in_browser.py

interop-test:  ## audit public packages (multi-freq-ldpy, pure-ldp, opendp) from their samples, try the ways in and out, sweep on a Dask cluster, in an environment of its own
	$(PYTHON) -m venv .venv-interop
	.venv-interop/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	.venv-interop/bin/python -m pip install --quiet --editable . --group interop
	.venv-interop/bin/python -m pip install --quiet --upgrade --no-deps --target .venv-interop/pure-ldp-1.1.2 pure-ldp==1.1.2
	.venv-interop/bin/python -m pytest -q -c /dev/null --rootdir=. -p no:cacheprovider interop

cross-check: $(VENV)/ok  ## the long cross-check against exact values (minutes)
	$(BIN)/python -m checks.cross_check
	SYMPY_GROUND_TYPES=python $(BIN)/python -m pytest -q tests/papers/test_derivations.py -k goes_on
	SYMPY_GROUND_TYPES=python $(BIN)/python -m pytest -q tests/checks/test_cross_check.py tests/papers/test_girgis2021.py
	$(BIN)/python -m checks.crowds
	$(BIN)/python -m checks.empirical --audits 200
	$(BIN)/python -m checks.interrupts

fuzz: $(VENV)/ok  ## hard inputs at random against an independent oracle; goes on where it ended (MINUTES=10 SEED=1)
	$(BIN)/python -m checks.fuzz --minutes $(or $(MINUTES),10) --seed $(or $(SEED),1) --processes $(or $(PROCESSES),1)

corners: $(VENV)/ok  ## every question to every randomizer, far out: a warning, a crash or a bare refusal is an error (MINUTES=10)
	$(BIN)/python -W error -m checks.corners --minutes $(or $(MINUTES),10) --seed $(or $(SEED),0)

audit: $(VENV)/ok  ## recompute every verdict on the papers
	$(BIN)/python -m shuffle_sym.papers.audit

conjectures: $(VENV)/ok  ## our conjectures about the worst neighbours on their whole range (minutes)
	$(BIN)/python -m shuffle_sym.truth.conjectures

latex-check: $(VENV)/ok  ## typeset every derivation with pdflatex (needs texlive)
	$(BIN)/python tools/latex_check.py

derivation-check: $(VENV)/ok  ## rebuild every derivation with each of its definitions and lines changed (minutes)
	$(BIN)/python -m checks.derivations --state $(VENV)/derivations.json

mutants: $(VENV)/ok  ## change one expression after another in numeric, truth and accounting; the tests must notice (an hour)
	$(BIN)/python -m checks.mutants --processes 2

bench: $(VENV)/ok  ## time, peak memory and width of the accountants
	$(BIN)/python benchmarks/imports.py
	$(BIN)/python benchmarks/lattice.py
	$(BIN)/python benchmarks/clones.py
	$(BIN)/python benchmarks/contour.py
	$(BIN)/python benchmarks/noise.py
	$(BIN)/python benchmarks/dropout.py
	$(BIN)/python benchmarks/mechanism.py
	$(BIN)/python benchmarks/fourier.py
	$(BIN)/python benchmarks/profile.py
	$(BIN)/python benchmarks/protocols.py
	$(BIN)/python benchmarks/explorer.py
	$(BIN)/python benchmarks/renyi.py
	$(BIN)/python benchmarks/ground_truth.py

battery: $(VENV)/ok  ## compare answers and times of the work tree with those of a commit (BASE=HEAD)
	rm -rf .battery && git worktree prune && git worktree add --quiet --detach .battery $(or $(BASE),HEAD)
	OMP_NUM_THREADS=1 PYTHONPATH=.battery $(BIN)/python benchmarks/battery.py run .battery/before.json
	OMP_NUM_THREADS=1 PYTHONPATH=. $(BIN)/python benchmarks/battery.py run .battery/after.json
	$(BIN)/python benchmarks/battery.py diff .battery/before.json .battery/after.json

docs: .venv-docs/ok  ## build the documentation as a site into docs/_build (warnings are errors)
	.venv-docs/bin/python -m sphinx -W --keep-going -q -b html docs docs/_build

.venv-docs/ok: pyproject.toml
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	.venv-docs/bin/python -m pip install --quiet --editable '.[lab]' --group docs
	touch $@

dist-check: $(VENV)/ok  ## build wheel and source archive, install each into an environment of its own, ask it
	$(BIN)/python -m pip install --quiet --group dist
	$(BIN)/python -m checks.distribution

test-lowest:  ## run the tests with the lowest versions that pyproject.toml allows
	$(PYTHON) tools/lowest.py > .lowest.txt
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	.venv-lowest/bin/python -m pip install --quiet --constraint .lowest.txt --editable '.[lab,interop]' --group dev
	.venv-lowest/bin/python -m pytest -n 2 tests shuffle_sym

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .venv-docs .venv-lowest .lowest.txt docs/_build docs/api docs/notebooks docs/gallery docs/jupyter_execute .pytest_cache .mypy_cache .ruff_cache .hypothesis
