# Two commands on a fresh machine: `make demo` sets up and runs the main job, `make test` sets up
# and passes the tests. Everything lives in .venv and in the user's kernel cache.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test test-cuda gpu generate check bench clean

demo: $(VENV)/demo
	$(BIN)/python examples/demo.py

test: $(VENV)/test
	$(BIN)/python -m codegen --check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tests.typecheck
	$(BIN)/python -m pytest -q -n 2 --dist loadfile $(PYTEST_ARGS)

test-cuda: $(VENV)/test-cuda
	$(BIN)/python -m pytest -q -n 2 --dist loadfile tests/cuda

gpu: $(VENV)/gpu
	$(BIN)/python -m pytest -q -m gpu tests/gpu --gpu-report gpu_report.md

generate: $(VENV)/base
	$(BIN)/python -m codegen

bench: $(VENV)/test
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) demo_output

$(VENV)/base: pyproject.toml
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable .
	touch $@

$(VENV)/demo: $(VENV)/base
	$(BIN)/pip install --quiet --editable ".[demo]"
	touch $@

$(VENV)/test-cuda: $(VENV)/test
	$(BIN)/pip install --quiet --editable ".[cuda-compile]"
	touch $@

$(VENV)/gpu: $(VENV)/test
	$(BIN)/pip install --quiet --editable ".[test-gpu]"
	touch $@

$(VENV)/test: $(VENV)/base
	$(BIN)/pip install --quiet --editable ".[parity]"
	$(BIN)/pip install --quiet --editable ".[test,dev,demo,mpi]"
	touch $@
