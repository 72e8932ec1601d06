# make serve runs the explorer, make test runs every check. Both make their own environment.

PORT ?= 5006
VENV ?= .venv
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null \
	&& echo $$python && break; done)

.PHONY: serve test embed lint peers bench picture

serve: $(VENV)/serve.ready
	$(VENV)/bin/python -m panel serve app --port $(PORT)

test: lint
	CHROMIUM="$$(tests/browser/chromium $(VENV)/bin/python)" && export CHROMIUM && \
		$(VENV)/bin/python -m pytest -n auto

embed: $(VENV)/serve.ready
	mkdir -p dist
	$(VENV)/bin/alibi-explorer embed -o dist/alibi-explorer.html --force

lint: $(VENV)/test.ready
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

peers: $(VENV)-peers/ready
	$(VENV)-peers/bin/python -m pytest tests/peers tests/app/test_code.py

bench: $(VENV)/test.ready $(VENV)-peers/ready $(VENV)-bench/ready
	CHROMIUM="$$(tests/browser/chromium $(VENV)/bin/python)" && export CHROMIUM && \
		$(VENV)-peers/bin/python tests/benchmarks/core_speed.py && \
		$(VENV)-bench/bin/python tests/benchmarks/latency.py --python $(VENV)/bin/python $(BENCH)

picture: $(VENV)/test.ready
	CHROMIUM="$$(tests/browser/chromium $(VENV)/bin/python)" && export CHROMIUM && \
		$(VENV)/bin/python tests/browser/picture.py

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "No Python 3.11, 3.12 or 3.13 found; install one, or name it: make PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/serve.ready: $(VENV)/bin/python pyproject.toml
	$(VENV)/bin/python -m pip install --quiet -e .
	touch $@

$(VENV)/test.ready: $(VENV)/bin/python pyproject.toml
	$(VENV)/bin/python -m pip install --quiet -e '.[test]'
	touch $@ $(VENV)/serve.ready

$(VENV)-peers/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install --quiet -e '.[peers]'
	touch $@

$(VENV)-bench/ready: tests/benchmarks/requirements.txt
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python -m pip install --quiet -r tests/benchmarks/requirements.txt
	touch $@
