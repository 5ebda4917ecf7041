# Two commands do everything: `make demo` shows the product, `make test` proves it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORTABLE := $(addprefix tests/,test_tolerances.py graphs operators losses model evaluation) \
	$(patsubst %,tests/diffusion/test_%.py,diffuse dynamics fast_paths polynomial \
	solvers spectral) \
	$(patsubst %,tests/methods/test_%.py,bgrl cca_ssg gcn propagation) \
	$(patsubst %,tests/methods/fdgcl/test_%.py,agreement column_shares compression \
	standardization)
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-portable bench check install browser clean

demo: $(VENV)/.installed
	@$(BIN)/fdgcl demo
	@echo "           first type: . $(BIN)/activate"

# One thread for each of the two test processes: more would only wait for each other.
test: $(VENV)/.tested browser
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

# Numbers again, with the oldest instructions that torch, MKL and OpenBLAS still know:
# they add in another order, as other processors do.
test-portable: $(VENV)/.tested
	ATEN_CPU_CAPABILITY=default MKL_ENABLE_INSTRUCTIONS=SSE4_2 \
	OPENBLAS_CORETYPE=Nehalem OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 \
	--dist worksteal -m "numeric and not slow" $(PORTABLE)

# Small parts of the work, each timed alone; `fdgcl bench` times the whole.
bench: $(VENV)/.tested
	$(BIN)/python -m pytest benchmarks --benchmark-columns=median,iqr,rounds

check: $(VENV)/.checked
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

install: $(VENV)/.installed

# The HTML pages are tested in a real browser.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	|| command -v google-chrome >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get -qq update \
	     && apt-get -qq install -y --no-install-recommends chromium; } \
	|| echo "no chromium here: the tests of HTML pages are skipped (apt install chromium)"

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
