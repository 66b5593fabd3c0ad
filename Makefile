# The only home of this project's commands. CI calls these targets and nothing else.
SHELL := /bin/bash
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
STAMP := $(VENV)/.installed
COMPARED := $(VENV)/.compared

.PHONY: help install demo test unit check format bench soak fuzz docs clean
.DEFAULT_GOAL := help

help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## Make .venv with everything the other targets need

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "error: Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11" >&2; exit 1; }
ifdef UV
	@echo "Installing into $(VENV): 900 MB, Claude Code and the tools of development included; the first time takes a minute or two"
	@test -x $(BIN)/python || uv venv --quiet --python $(PYTHON) $(VENV)
	@uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --group dev --compile-bytecode --editable .
else
	@echo "Installing into $(VENV): 900 MB, Claude Code and the tools of development included; the first time takes a minute or two"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1' --disable-pip-version-check
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --group dev --editable .
endif
	@$(BIN)/python -m compileall -q src
	@echo "Installed: $(BIN)/pcc"
	@touch $(STAMP)

demo: $(STAMP) ## Play a real Claude Code session under supervision: no account, no key
	@$(BIN)/pcc demo

check: $(STAMP) ## Lint, types, and the rings
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin --package perpetualcc
	@$(BIN)/lint-imports --no-cache

format: $(STAMP) ## Format and fix what can be fixed
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

# Most tests wait for a process most of the time: three at once keep two cores busy.
WORKERS ?= 3

# Some of them play against the clock: what fails in the crowd is played again alone, and must pass.
test: $(STAMP) ## Every test but the soaks
	@$(BIN)/pytest -m "not soak" -q -n $(WORKERS) --dist worksteal \
		|| $(BIN)/pytest -m "not soak" -q --last-failed --last-failed-no-failures none

unit: $(STAMP) ## The quick tests only
	@$(BIN)/pytest -m "not soak" -q tests/unit tests/contracts

soak: $(STAMP) ## Long runs: a hundred kills, fuzzing
	@$(BIN)/pytest -m soak -q

fuzz: $(STAMP) ## Three minutes of fuzzing the gate, guided by coverage and against real shells
	@$(BIN)/pytest -m soak -q tests/acceptance/test_fuzzing.py \
		tests/unit/permissions/test_shells_for_long.py

# What some numbers are ratios to; the rest of the project does without it.
$(COMPARED): $(STAMP)
ifdef UV
	@uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --group bench
else
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --group bench
endif
	@touch $(COMPARED)

bench: $(if $(filter-out knowledge,$(AREA)),$(STAMP),$(COMPARED)) ## The product's numbers, as ratios in one run (AREA=name for one)
# As it is installed: where Python may write no bytecode, each command would compile what changed.
	@$(BIN)/python -m compileall -q src
	@$(BIN)/python -m benchmarks $(AREA)

docs: $(STAMP) ## Write the generated documentation (DEMO=1: the README's demo too)
	@$(BIN)/python -m tools.documented $(if $(DEMO),--demo)

clean: ## Remove what the other targets made
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
