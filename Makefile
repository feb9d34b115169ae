# Two commands matter: `make demo` runs the quickstart, `make test` everything that is checked.
PYTHON ?=
HALF ?=
BIN = .venv/bin
CACHING = env -u PYTHONDONTWRITEBYTECODE  # to compile all tests anew takes a tenth of the time of the fast ones
STAMP = .venv/.stepgrid
SCHEMAS = specs/spec.schema.json specs/library.schema.json specs/site.schema.json
export PYTHON

.PHONY: setup demo wheel builds-all gallery fuzz slurm publishing docs test test-fast test-changed test-all golden lint words format lock clean
.DELETE_ON_ERROR:

setup: $(STAMP) $(SCHEMAS)
	@echo "next: make demo, or a spec of your own: . .venv/bin/activate; stepgrid new rocksdb my.yaml" >&2

$(STAMP): requirements.lock pyproject.toml packages/importers/pyproject.toml scripts/environment.py
	@rm -f $@
	@python=$$(sh scripts/python) && "$$python" scripts/environment.py
	@touch $@

specs/%.schema.json: $(STAMP) $(shell find compiler specs/library -name '*.py' -o -name '*.yaml')
	@$(BIN)/stepgrid schema $* > $@

demo: $(STAMP)
	@spec=$$($(BIN)/python scripts/demo_spec.py) && PATH="$(CURDIR)/$(BIN):$$PATH" stepgrid run $$spec && \
	    echo "next: . .venv/bin/activate; change a value of $$spec; stepgrid run $$spec" >&2

wheel: $(STAMP)  # dist/stepgrid-*.whl, which needs no checkout, and the source archive
	@$(BIN)/python -m hatchling build --target wheel --target sdist

builds-all: $(STAMP)  # every build of specs/builds: hours
	@failed=; for spec in specs/builds/*.yaml; do $(BIN)/stepgrid builds $$spec --yes || failed=1; done; test -z "$$failed"

gallery: $(STAMP)  # specs of published experiments at their smoke scale: docs/gallery
	@$(BIN)/python scripts/gallery.py

fuzz: $(STAMP)  # readers of what others wrote, a million damaged inputs each: hours (docs/reference/security.md)
	@$(BIN)/python scripts/environment.py fuzz
	@for family in $$(ls tests/fuzz/corpus); do $(BIN)/python bench/fuzz.py $$family || exit 1; done
	@$(BIN)/python bench/fuzz_state.py

slurm: $(STAMP)  # Snakemake's plug-in for the tests of a real SLURM, in .venv/slurm: each Snakemake would import its pandas
	@$(BIN)/python scripts/environment.py slurm --upgrade --target .venv/slurm

publishing: $(STAMP)  # pipx, uv and zizmor, for the tests of what is published
	@$(BIN)/python scripts/environment.py publishing

docs: $(STAMP) $(SCHEMAS)  # the site of docs/, in site/; it loads nothing from elsewhere
	@$(BIN)/python scripts/environment.py docs
	@$(BIN)/python -m scripts.docs_site .venv/site
	@$(BIN)/zensical build --strict --config-file .venv/site/mkdocs.yml
	@[ ! -e site ] || [ -f site/spec.schema.json ] || { echo "site is there, and is not of \`make docs\`: move it away" >&2; exit 1; }
	@rm -rf site && mv .venv/site/site site
	@echo "site/index.html"

test: $(STAMP) $(SCHEMAS)  # beside `make lint`; more processes than two cores, as many tests wait for what they measure
	@$(BIN)/python -m pytest --numprocesses 4 --dist loadfile --lint $(HALF)

test-fast: $(STAMP) $(SCHEMAS)  # without engines, Snakemake and what takes longer than half a second: while you work
	@$(CACHING) $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --fast

test-changed: $(STAMP) $(SCHEMAS)  # of these the tests that belong to files which differ from origin/main (or SINCE)
	@$(CACHING) $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --fast $$($(BIN)/python -m tests.changed $(SINCE))

test-all: $(SCHEMAS) publishing  # with what is for a night: before a release
	@$(BIN)/python -m pytest --numprocesses 4 --dist loadfile --lint $(HALF) --hypothesis-profile nightly -m ''

golden: $(STAMP)  # the exact texts in tests/golden, as they are now: look at the difference
	@$(BIN)/python -m pytest -q --update-golden

lint: $(STAMP)
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy compiler scripts packages/importers packages/examples/*/stepgrid_*
	@$(BIN)/lint-imports

words: $(STAMP)  # of taste: long sentences, roundabout ones, docstrings that begin as fragments; fails nothing
	@$(BIN)/python -m tests.house_rules --words

format: $(STAMP)
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

lock:
	@python=$$(sh scripts/python) && sh scripts/lock "$$python"

clean:  # what this file makes: a site or an environment of yours stays
	[ ! -f site/spec.schema.json ] || rm -rf site
	[ ! -e .venv/.made-by-stepgrid ] && [ ! -e .venv/bin/stepgrid ] || rm -rf .venv
	rm -rf .snakemake .mypy_cache .ruff_cache .import_linter_cache .pytest_cache .hypothesis
	rm -f dist/stepgrid-*
	find bench compiler packages scripts tests -name __pycache__ -type d -prune -exec rm -rf {} +
