# Two commands do everything: `make demo` and `make test`. Both make .venv on first use.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: audit demo docs fuzz leaderboard logs publishable sbom wheel image test test-slow test-oldest test-extras coverage bench bench-context bench-counts bench-ladder bench-ledger bench-map bench-maps bench-map-models bench-metrics bench-periods bench-persons bench-pripel bench-rules bench-scale bench-synthesis bench-times bench-utility bench-web reproduce scorecard screenshots lint tutorials clean

.venv/made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "travas needs Python 3.11 or newer; try: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	touch $@

# What the README's commands and examples need; databases, Spark and pm4py are left to '.[all]'.
.venv/installed: .venv/made pyproject.toml Makefile
	$(BIN)/pip install --quiet --editable '.[plot,metrics,pandas,web]'
	touch $@

.venv/installed-test: .venv/installed
	$(BIN)/pip install --quiet --editable '.[all]' --group test
	tests/install
	touch $@

.venv/installed-bench: .venv/installed-test
	$(BIN)/pip install --quiet --group bench
	touch $@

.venv/installed-docs: .venv/installed build-constraints.txt
	$(BIN)/pip install --quiet --constraint build-constraints.txt --group docs
	touch $@

docs: .venv/installed-docs ## the documentation site, into src/travas/site; opened by: travas docs
	$(BIN)/python docs/site/build_site.py

demo: .venv/installed ## all three kinds of release of the built-in log
	$(BIN)/travas demo --output demo-release

lint: .venv/installed-test
	$(BIN)/ruff check src tests benchmarks docs/site
	$(BIN)/ruff format --check src tests benchmarks docs/site
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint ## lint, types and tests
	$(BIN)/pytest -n auto -m "not slow"

test-slow: .venv/installed-test ## the statistical and scale tests: three quarters of an hour
	$(BIN)/pytest -n auto -m slow

coverage: .venv/installed-test ## the tests again, with the lines and branches of src that they reach, child processes included
	rm -f .coverage .coverage.*
	COVERAGE_FILE=$(CURDIR)/.coverage $(BIN)/coverage run -m pytest -n auto -m "not slow"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# The lowest versions of the direct dependencies that pyproject.toml allows; tools of the tests are the newest.
# Warnings are not errors there: old Matplotlib and POT use what newer packages and Python deprecate.
.venv-oldest/installed: pyproject.toml
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/pip install --quiet --disable-pip-version-check uv
	.venv-oldest/bin/uv pip compile --quiet --resolution lowest-direct --all-extras pyproject.toml -o .venv-oldest/lowest.txt
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest/bin/python \
	  --constraints .venv-oldest/lowest.txt --editable '.[all]' --group test
	touch $@

test-oldest: .venv-oldest/installed ## the quick tests with the oldest dependencies that are allowed
	.venv-oldest/bin/python -m pytest -n auto -m "not slow" -W default

# The time of the commit is the time of every file, and the tools have fixed versions: every clone gives the same bytes.
wheel: docs ## wheel and source distribution, in dist
	rm -rf dist
	$(BIN)/pip install --quiet --disable-pip-version-check --group build
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} PIP_CONSTRAINT=build-constraints.txt \
	  $(BIN)/python -m build --outdir dist

publishable: ## fails as long as pyproject.toml does not say where the project is hosted
	$(PYTHON) docs/site/index_readme.py

image: wheel ## the container image: docs/container.md
	docker build --tag travas .

test-extras: .venv/installed-test wheel ## the wheel in an empty environment, then with each extra alone
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/supply/extras.py dist/*.whl

bench: .venv/installed-bench ## the ratios the README quotes
	$(BIN)/python benchmarks/core.py

bench-counts: .venv/installed-bench
	$(BIN)/python benchmarks/counts.py

bench-ladder: .venv/installed-bench
	$(BIN)/python benchmarks/ladder.py $(LOGS)

bench-scale: .venv/installed-bench ## 1, 10 and 100 M events; Spark: half an hour, 12 GB
	$(BIN)/python benchmarks/scale.py

bench-synthesis: .venv/installed-bench ## synthetic logs on sixteen public logs: two hours; resumes where it stopped
	$(BIN)/python benchmarks/synthesis.py

bench-context: .venv/installed-bench ## attributes of events on public logs: two minutes
	$(BIN)/python benchmarks/context.py

bench-rules: .venv/installed-bench ## synthetic logs with and without public rules: two minutes
	$(BIN)/python benchmarks/rules.py

bench-times: .venv/installed-bench ## times and attributes of synthetic logs on sixteen public logs: half an hour; resumes where it stopped
	$(BIN)/python benchmarks/times.py

bench-map: .venv/installed-bench ## process maps on sixteen public logs: half an hour; resumes where it stopped
	$(BIN)/python benchmarks/map.py

bench-maps: .venv/installed-bench ## how the maps of sixteen public logs look when they open, in a browser
	$(BIN)/python benchmarks/map_pages.py

bench-map-models: .venv/installed-bench ## fitness and precision of models from maps and other releases
	$(BIN)/python benchmarks/map_models.py

bench-pripel: .venv/installed-bench ## what a release by PRIPEL contains of the original log
	$(BIN)/pip install --quiet --target .venv/pripel diffprivlib 'scikit-learn<1.6'
	PYTHONPATH=.venv/pripel $(BIN)/python benchmarks/pripel.py

bench-utility: .venv/installed-bench
	$(BIN)/python benchmarks/utility.py

bench-ledger: .venv/installed-bench
	$(BIN)/python benchmarks/ledger.py

.venv-scorecard/installed: .venv/installed Makefile
	$(PYTHON) -m venv .venv-scorecard
	.venv-scorecard/bin/pip install --quiet --disable-pip-version-check anonymeter ebi-pm log-distance-measures scikit-learn
	touch $@

scorecard: .venv-scorecard/installed ## synthetic logs in the measures of other projects, in an environment of its own: half an hour; resumes where it stopped
	.venv-scorecard/bin/python benchmarks/scorecard.py

logs: .venv/installed ## whether the public logs are there, as published, with their DOIs: LOGS="sepsis.xes.gz" only these
	$(BIN)/python benchmarks/public_logs.py $(LOGS)

reproduce: .venv/installed-bench ## the paper's study: half an hour on two cores; resumes where it stopped
	$(BIN)/python benchmarks/public_logs.py bpic2013-incidents.xes.gz sepsis.xes.gz
	mkdir -p experiments/results
	$(BIN)/travas experiment experiments/paper.toml -o experiments/results/paper.parquet
	$(BIN)/python benchmarks/heatmaps.py experiments/results/paper.summary.csv docs/images/paper
	$(BIN)/python benchmarks/reproduce.py experiments/results/paper.parquet

leaderboard: .venv/installed-bench ## all mechanisms on the public logs, smaller ones first: hours; resumes where it stopped; MINUTES=20 stops each of its two grids then
	mkdir -p experiments/results
	for grid in leaderboard leaderboard-large; do \
	  PYTHONPATH=benchmarks timeout $(MINUTES)m $(BIN)/travas experiment experiments/$$grid.toml -o experiments/results/$$grid.parquet \
	    || test $$? -eq 124 || exit 1; \
	done
	$(BIN)/python benchmarks/leaderboard.py experiments/results docs

tutorials: .venv/installed-test ## executes docs/tutorials again, with their outputs
	for page in docs/tutorials/*.ipynb; do $(BIN)/python docs/site/execute_notebook.py $$page $$page || exit 1; done

bench-persons: .venv/installed ## noise for persons with several variants, before and after
	$(BIN)/python benchmarks/persons.py

bench-periods: .venv/installed-bench ## a year of monthly releases on two public logs
	$(BIN)/python benchmarks/periods.py

bench-metrics: .venv/installed-bench
	$(BIN)/python benchmarks/metrics.py

bench-web: .venv/installed-bench
	$(BIN)/python benchmarks/web.py

MINUTES ?= 60
SECONDS ?= 60

audit: .venv/installed-test ## tries to falsify every claim and writes docs/trust.md: MINUTES=60
	$(BIN)/python tests/audit/make_audit.py $(MINUTES)

sbom: .venv/made ## the software bill of materials of travas with all extras: build/travas.cdx.json, CycloneDX
	$(PYTHON) -m venv --clear build/sbom
	build/sbom/bin/pip install --quiet --disable-pip-version-check '.[all]'
	$(BIN)/pip install --quiet --group sbom
	$(BIN)/cyclonedx-py environment build/sbom/bin/python --output-file build/travas.cdx.json

fuzz: .venv/installed-test ## mutated files for every reader and parser: SECONDS=60
	$(BIN)/python tests/fuzz/mutations.py $(SECONDS)

screenshots: .venv/installed-test ## the pictures in docs/images, in a browser
	PYTHONPATH=tests:tests/e2e $(BIN)/python docs/site/screenshots.py

clean:
	rm -rf .venv .venv-oldest .venv-scorecard .coverage .coverage.* demo-release build dist
