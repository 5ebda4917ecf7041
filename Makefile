# Two commands do everything: `make demo` shows the product, `make test` proves it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt

.PHONY: demo test check install clean

demo: $(VENV)/.installed
	@$(BIN)/fdgcl demo
	@echo "           first type: . $(BIN)/activate"

# One thread for each of the two test processes: more would only wait for each other.
test: $(VENV)/.tested
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

check: $(VENV)/.checked
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

install: $(VENV)/.installed

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.installed: pyproject.toml constraints.txt
	@echo "installing into $(VENV), which takes a minute or two the first time"
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) -e .
	@touch $@

$(VENV)/.tested: $(VENV)/.installed
	@$(INSTALL) -e '.[test]'
	@touch $@

$(VENV)/.checked: $(VENV)/.tested
	@$(INSTALL) -e '.[check]'
	@touch $@
