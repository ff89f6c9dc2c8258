PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NOTEBOOKS := $(wildcard notebooks/*.ipynb)
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

.PHONY: help lab test lint notebooks cross-check conjectures bench clean

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/ok: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.[lab,fast]' --group dev
	touch $@

lab: $(VENV)/ok  ## set up, then open JupyterLab in notebooks/
	$(BIN)/jupyter lab $(AS_ROOT) --notebook-dir=notebooks

test: $(VENV)/ok  ## set up, then run the whole test suite, notebooks included
	$(BIN)/python -m pytest -n 2
	SYMPY_GROUND_TYPES=python $(BIN)/python -m pytest -n 2 tests -m exact

lint: $(VENV)/ok  ## ruff (check and format) and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

notebooks: $(VENV)/ok  ## run every notebook and save its outputs
	$(BIN)/jupyter nbconvert --to notebook --execute --inplace $(NOTEBOOKS)

cross-check: $(VENV)/ok  ## the long cross-check against exact values (minutes)
	$(BIN)/python -m shuffle_sym.cross_check

conjectures: $(VENV)/ok  ## our conjectures about the worst neighbours on their whole range (minutes)
	$(BIN)/python -m shuffle_sym.conjectures

bench: $(VENV)/ok  ## time, peak memory and width of the accountants
	$(BIN)/python benchmarks/lattice.py
	$(BIN)/python benchmarks/contour.py
	$(BIN)/python benchmarks/fourier.py
	$(BIN)/python benchmarks/protocols.py
	$(BIN)/python benchmarks/ground_truth.py

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
