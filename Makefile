# The two commands: make demo, make test. Everything they need goes into .venv and .build.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SBT_VERSION := $(shell sed -n 's/^sbt.version=//p' project/build.properties)
LAUNCHER := .build/sbt-launch-$(SBT_VERSION).jar
JAVA_RUN := scripts/with-java
# It ends before code compiled by the JVM's second compiler has saved what that cost: with the first alone, the Scala
# compiler takes half the time. Nor are the classes verified that it loads.
SBT := $(JAVA_RUN) java -Xmx1800m -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m -XX:+UseParallelGC \
  -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote -Dsbt.server.autostart=false -jar $(LAUNCHER)
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' python/zcube/_version.py)
# The Spark lines, the newest first, and their Spark and Delta versions. Most of the targets are about the newest.
ALL_LINES := $(shell sed -nE 's/^ *SparkLine."([^"]+)".*/\1/p' project/SparkVersions.scala)
LINE := $(firstword $(ALL_LINES))
JAR := jvm/delta/target/spark-$(LINE)/scala-2.13/zcube-spark_$(LINE)_2.13-$(VERSION).jar
TEST_JAR := $(JAR:.jar=-tests.jar)
SCALA := $(shell find build.sbt project/*.sbt project/*.scala project/build.properties jvm -path '*/target' -prune -o -type f -print)

LINES := $(wordlist 2,9,$(ALL_LINES))
spark_of = $(shell sed -nE 's/.*SparkLine."$(1)", "([^"]+)", "([^"]+)".*/\1/p' project/SparkVersions.scala)
delta_of = $(shell sed -nE 's/.*SparkLine."$(1)", "([^"]+)", "([^"]+)".*/\2/p' project/SparkVersions.scala)
# The Python tests that run there: everything that could lose rows, lay them out wrongly, or misread a statement.
VERSIONED := declare/test_cluster_by declare/test_clustered_writes optimize/test_clustered \
  optimize/test_predicate_text optimize/test_refused_options optimize/test_zorder safety/test_cluster_failures \
  safety/test_conflicts safety/test_crashes safety/test_kinds_of_tables safety/test_other_readers \
  safety/test_random_operations safety/test_speculation safety/test_stored_values safety/test_table_features \
  safety/test_unreadable_input
# Servers of their own: Spark Connect, a Hive metastore.
SERVICES := interface/test_connect_server interface/test_hive_metastore

.PHONY: help demo test test-all test-fast test-jvm test-python test-versions test-tools bench bench-long leaderboard soak soak-sequences soak-faults soak-merges pictures reference compatibility site lint lint-scala lint-python lint-and-jars-jvm format wheel staging release release-trial jar jars class-archive clean

help: ## show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/:/' | column -t -s:

demo: $(VENV)/.ready $(JAR) ## compare OPTIMIZE with Delta's on TPC-H data (under 5 minutes)
	$(JAVA_RUN) $(BIN)/zcube demo

test: test-jvm test-python ## run all tests

test-all: export ZCUBE_TESTS := all
test-all: test ## run all tests, with the cases that .ci/run has no time for

test-fast: $(VENV)/.ready $(JAR) ## run the tests that need neither Delta nor a Python session (under 5 minutes)
	$(SBT) core/test spark/test clustering/test
	$(JAVA_RUN) $(BIN)/python -m pytest -n 2 --dist loadfile -m "not spark and not slow" tests

# Classes that the Python tests' JVMs map into memory instead of loading them one by one.
CLASSES := .build/classes-$(LINE).jsa
class-archive: $(CLASSES)

$(CLASSES): tests/support/class_archive.py $(VENV)/.ready | $(JAR)
	$(JAVA_RUN) $(BIN)/python -m tests.support.class_archive

# What records a run for docs/compatibility.md.
RECORDER := $(if $(ZCUBE_COMPATIBILITY),$(VENV)/.spark)

# What makes the jar and the test jar.
JARS := delta/package delta/Test/package

test-jvm: $(LAUNCHER) $(RECORDER) $(LINES:%=.build/jar-%.ready) ## run the Scala tests; compile for all Spark lines
	rm -rf jvm/*/target/spark-$(LINE)/test-reports
	$(SBT) -Dlongest.first test $(JARS)
	$(call record,scala,$(LINE),jvm/*/target/spark-$(LINE)/test-reports/*.xml)

test-python: $(VENV)/.ready $(JAR) $(TEST_JAR) $(CLASSES) ## run the Python tests
	$(JAVA_RUN) $(BIN)/python -m tests.support.fetch_packages
	$(JAVA_RUN) $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --junitxml=.build/tests-$(LINE).xml tests
	$(call record,python,$(LINE),$(BIN)/python .build/tests-$(LINE).xml)

test-versions: export ZCUBE_TESTS := all
test-versions: $(LINES:%=jvm-tests-%) $(LINES:%=python-tests-%) $(LINES:%=services-tests-%) ## run the tests on the other Spark lines (over an hour)

JVM_TESTS := spark/test clustering/test delta/test
VERSION_TESTS := $(VERSIONED:%=tests/%.py)

# With ZCUBE_COMPATIBILITY=record, a whole run goes into docs/compatibility.md: part, line, Python and reports.
is_whole = $(if $(filter-out file,$(origin JVM_TESTS) $(origin VERSION_TESTS) $(origin VERSIONED))$(PYTEST_ADDOPTS),,$(or $(filter scala,$(1)),$(filter $(LINE),$(2)),$(filter all,$(ZCUBE_TESTS))))
record = $(if $(and $(filter record,$(ZCUBE_COMPATIBILITY)),$(call is_whole,$(1),$(2))),$(JAVA_RUN) $(BIN)/python -m tests.support.compatibility record $(1) $(call spark_of,$(2)) $(call delta_of,$(2)) $(3))

$(LINES:%=jvm-tests-%): jvm-tests-%: $(LAUNCHER) $(RECORDER)
	rm -rf jvm/*/target/spark-$*/test-reports
	$(SBT) -Dspark.line=$* $(JVM_TESTS) $(JARS)
	touch .build/jar-$*.ready .build/jars-$*.ready
	$(call record,scala,$*,jvm/*/target/spark-$*/test-reports/*.xml)

$(ALL_LINES:%=python-tests-%): python-tests-%: .build/venv-%/.ready .build/jars-%.ready
	$(JAVA_RUN) .build/venv-$*/bin/python -m tests.support.fetch_packages
	$(JAVA_RUN) .build/venv-$*/bin/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --junitxml=.build/tests-$*.xml $(VERSION_TESTS)
	$(call record,versioned,$*,.build/venv-$*/bin/python .build/tests-$*.xml)

# With another Python: PYTHON=python3.13, in a checkout that has no .build/venv-… yet.
$(ALL_LINES:%=services-tests-%): services-tests-%: .build/venv-%/.ready .build/jars-%.ready
	$(JAVA_RUN) .build/venv-$*/bin/python -m tests.support.fetch_packages
	ZCUBE_TESTS=all $(JAVA_RUN) .build/venv-$*/bin/python -m pytest --junitxml=.build/services-$*.xml $(SERVICES:%=tests/%.py)
	$(call record,services,$*,.build/venv-$*/bin/python .build/services-$*.xml)

# dbt, Airflow and Dagster, each in an environment of its own: their packages take longer to install than all of these
# tests take to run, so the nightly workflow runs them and .ci/run doesn't.
TOOLS := dbt airflow dagster

test-tools: $(VENV)/.ready $(JAR) $(TEST_JAR) $(TOOLS:%=.build/tool-%/.ready) ## run the examples of dbt, Airflow and Dagster (5 minutes)
	ZCUBE_TOOLS=1 $(JAVA_RUN) $(BIN)/python -m pytest $(TOOLS:%=tests/interface/test_%.py)

MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs
MARKDOWN := $(wildcard *.md) python/README.md examples/README.md $(wildcard docs/*.md docs/questions/*.md docs/tools/*.md)
CODE := python tests benchmarks scripts examples

lint: lint-scala lint-python ## check formats, rules and types

lint-scala: $(LAUNCHER)
	$(SBT) $(LINT_SCALA)

# Scalafix compiles without -Werror and keeps nothing of it, so the tests' classes are made first.
LINT_SCALA := scalafmtCheckAll scalafmtSbtCheck benchmarks/scalafmtCheckAll Test/compile benchmarks/compile "scalafixAll --check" delta/mimaReportBinaryIssues

# And all jars, for .ci/run: one JVM, whose compiler is warm from the second line on.
lint-and-jars-jvm: $(LAUNCHER)
	$(SBT) $(LINT_SCALA) $(JARS) $(LINES:%="sparkLine %" delta/package)
	touch $(JAR)
	touch $(TEST_JAR) $(LINES:%=.build/jar-%.ready)

lint-python: $(VENV)/.ready
	$(BIN)/ruff check --config python/pyproject.toml $(CODE)
	$(BIN)/ruff format --config python/pyproject.toml --check $(CODE)
	$(BIN)/mdformat --check $(MARKDOWN)
	$(MKDOCS) build --site-dir .build/site
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --quiet .github/workflows
	cd python && ../$(BIN)/mypy

format: $(VENV)/.ready $(LAUNCHER) ## format the sources
	$(SBT) scalafixAll scalafmtAll scalafmtSbt
	$(BIN)/ruff check --config python/pyproject.toml --fix $(CODE)
	$(BIN)/ruff format --config python/pyproject.toml $(CODE)
	$(BIN)/mdformat $(MARKDOWN)

bench: $(VENV)/.ready $(JAR) ## measure against Delta, end to end
	$(JAVA_RUN) $(BIN)/python -m benchmarks.zorder
	$(JAVA_RUN) $(BIN)/python -m benchmarks.merge --tables small
	$(JAVA_RUN) $(BIN)/python -m benchmarks.merge_tpch
	$(JAVA_RUN) $(BIN)/python -m benchmarks.idle
	$(JAVA_RUN) $(BIN)/python -m benchmarks.growth --cases sf1,files,eight,wide
	$(JAVA_RUN) $(BIN)/python -m benchmarks.quality_from_log
	$(JAVA_RUN) $(BIN)/python -m benchmarks.quality --quick
	$(JAVA_RUN) $(BIN)/python -m benchmarks.quality.row_groups
	$(BIN)/python -m benchmarks.pictures

bench-long: $(VENV)/.ready $(JAR) ## run the benchmarks that take hours: streams of appends, SF 10, all data sets
	$(JAVA_RUN) $(BIN)/python -m benchmarks.streams
	$(JAVA_RUN) $(BIN)/python -m benchmarks.large_log
	$(JAVA_RUN) $(BIN)/python -m benchmarks.merge
	$(JAVA_RUN) $(BIN)/python -m benchmarks.merge_rounds
	$(JAVA_RUN) $(BIN)/python -m benchmarks.merge_copies
	$(JAVA_RUN) $(BIN)/python -m benchmarks.merge_large_log
	$(JAVA_RUN) $(BIN)/python -m benchmarks.growth
	$(JAVA_RUN) $(BIN)/python -m benchmarks.quality
	$(JAVA_RUN) $(BIN)/python -m benchmarks.quality.never_worse
	$(JAVA_RUN) $(BIN)/python -m benchmarks.queries --sets TPC-H
	$(BIN)/python -m benchmarks.pictures

# TPC-H's 22 read most files of every layout, and take as long as the rest: `bench-long` runs them.
leaderboard: $(VENV)/.ready $(JAR) .build/venv-4.1/.ready ## what queries gain from each layout: docs/leaderboard.md (20 to 30 minutes)
	$(JAVA_RUN) $(BIN)/python -m benchmarks.queries --sets "selective on TPC-H,web log" --iceberg .build/venv-4.1/bin/python

soak: soak-sequences soak-faults soak-merges ## run soak-sequences, soak-faults and soak-merges (hours)

# What is in the results' files is not run again, whatever was changed since; remove them to start over.
soak-sequences: export ZCUBE_TESTS := all
soak-sequences: $(VENV)/.ready $(JAR) $(TEST_JAR) ## run random sequences of 10,000 steps, cluster failures, all layouts of the advisor (hours)
	mkdir -p tests/results
	ZCUBE_MODEL_SEQUENCES=100 ZCUBE_MODEL_STEPS=100 ZCUBE_MODEL_RESULT=tests/results/soak.jsonl $(JAVA_RUN) $(BIN)/python -m pytest -n 2 tests/safety/test_random_operations.py
	ZCUBE_CLUSTER_ROUNDS=10 $(JAVA_RUN) $(BIN)/python -m pytest tests/safety/test_cluster_failures.py
	ZCUBE_ADVISOR_SCALE=0.1 $(JAVA_RUN) $(BIN)/python -m pytest tests/quality/test_recommend.py -k really_built

soak-faults: $(LAUNCHER) ## run OPTIMIZE with a fault in each store operation (hours)
	mkdir -p tests/results
	ZCUBE_SWEEP=all ZCUBE_SWEEP_RESULT=tests/results/sweep.jsonl $(SBT) "clustering/testOnly *FaultsSuite" "delta/testOnly *FaultSweep*"

soak-merges: $(LAUNCHER) ## run 20,000 random MERGEs with pruning and with plain Delta, plan 20,000 others (hours)
	mkdir -p tests/results
	ZCUBE_CONDITIONS=20000 $(SBT) "delta/testOnly *RandomSkippingSuite"
	ZCUBE_MERGES=20000 ZCUBE_MERGES_RESULT=tests/results/merges.jsonl $(SBT) "delta/testOnly *RandomMergesSuite"

pictures: $(VENV)/.ready $(JAR) ## redraw the pictures in docs/
	$(JAVA_RUN) $(BIN)/python -m benchmarks.cubes_picture

compatibility: $(VENV)/.ready ## make docs/compatibility.md from the results on record
	$(BIN)/python -m tests.support.compatibility page

reference: $(LAUNCHER) ## generate docs/reference.md from the sources
	ZCUBE_WRITE_REFERENCE=1 $(SBT) "clustering/testOnly *ReferencePageSuite"

site: $(VENV)/.ready $(LAUNCHER) ## build the site in site/, with the Python and Scala API docs
	$(SBT) delta/doc
	$(MKDOCS) build
	cp -r jvm/delta/target/spark-$(LINE)/scala-2.13/api site/scaladoc

jar: $(JAR) ## build the jar for the default Spark line

jars: $(LAUNCHER) ## build the jars for all Spark lines
	for line in $(ALL_LINES); do $(SBT) -Dspark.line=$$line delta/package || exit 1; done

wheel: $(VENV)/.ready jars ## build wheel and sdist with the jars in dist/
	mkdir -p python/zcube/jars && rm -rf python/zcube/jars/*.jar dist/zcube-*
	for line in $(ALL_LINES); do \
	  cp jvm/delta/target/spark-$$line/scala-2.13/zcube-spark_$${line}_2.13-$(VERSION).jar python/zcube/jars/ || exit 1; done
	$(BIN)/python -m build --sdist --wheel --no-isolation --outdir dist python

# The project's URL, for the poms.
PROJECT_URL ?=

staging: $(LAUNCHER) ## put jars, sources, scaladoc and poms for all Spark lines into dist/maven
	rm -rf dist/maven
	for line in $(ALL_LINES); do \
	  $(SBT) -Dspark.line=$$line $(PROJECT_URL:%=-Dproject.url=%) delta/publish || exit 1; done

release: wheel staging ## build, check, sign and pack a release in dist/: PROJECT_URL=https://…
	$(BIN)/python scripts/release.py $(RELEASE_OPTIONS)

# The Python interpreters that the release is installed with.
INSTALL_PYTHONS ?= $(PYTHON)

release-trial: ## the same without date, address and signature, then install it in an empty environment
	$(MAKE) release RELEASE_OPTIONS=--staging
	ZCUBE_INSTALL_PYTHONS="$(INSTALL_PYTHONS)" $(JAVA_RUN) $(BIN)/python -m pytest --junitxml=.build/install.xml tests/release
	$(call record,install,$(LINE),.build/install.xml $(INSTALL_PYTHONS))

clean: ## remove what was built
	rm -rf $(VENV) .build dist site demo-output spark-warehouse python/zcube/jars project/target project/project
	find . -name target -type d -prune -exec rm -rf {} +

# What sbt comes with without Maven: it starts while the rest is installed. Python compiles only what it imports.
$(VENV)/.spark: requirements-dev.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Building and testing ZCube needs Python 3.11 or later: make PYTHON=/path/to/python3")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile $(shell grep ^pyspark== requirements-dev.txt)
	touch $@

$(VENV)/.ready: python/pyproject.toml requirements-dev.txt $(VENV)/.spark
	$(BIN)/python -m pip install --quiet --no-compile -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e python
	touch $@

.build/venv-%/.ready: requirements-dev.txt python/pyproject.toml project/SparkVersions.scala
	$(PYTHON) -m venv .build/venv-$*
	grep -vE '^(pyspark|delta-spark)==' requirements-dev.txt > .build/venv-$*/requirements.txt
	.build/venv-$*/bin/python -m pip install --quiet -r .build/venv-$*/requirements.txt \
	  pyspark==$(call spark_of,$*) delta-spark==$(call delta_of,$*)
	.build/venv-$*/bin/python -m pip install --quiet --no-deps --no-build-isolation -e python
	touch $@

# Wheels only: a package built from source may download anything.
.build/tool-%/.ready: examples/%/requirements.txt
	$(PYTHON) -m venv .build/tool-$*
	.build/tool-$*/bin/python -m pip install --quiet --only-binary :all: --no-binary pyspark -r $<
	touch $@

# A Spark line's jar.
.build/jar-%.ready: $(LAUNCHER) $(SCALA)
	$(SBT) -Dspark.line=$* delta/package
	touch $@

# And its test jar, which the Python tests need.
.build/jars-%.ready: $(LAUNCHER) $(SCALA)
	$(SBT) -Dspark.line=$* $(JARS)
	touch $@

# By Maven, if it is there, so that sbt needn't wait for PySpark: half a minute. `make MAVEN= …` does without.
MAVEN := $(shell command -v mvn)
COPY := org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy

ifneq ($(MAVEN),)
$(LAUNCHER):
	mkdir -p .build
	$(JAVA_RUN) $(MAVEN) --batch-mode --quiet $(COPY) -Dartifact=org.scala-sbt:sbt-launch:$(SBT_VERSION) \
	  -DoutputDirectory=.build || { echo "Maven can't fetch sbt. To do without Maven: make MAVEN= …" >&2; exit 1; }
	touch $@
else
$(LAUNCHER): $(VENV)/.spark
	mkdir -p .build
	$(JAVA_RUN) java -jar $(VENV)/lib/python*/site-packages/pyspark/jars/ivy-*.jar \
	  -dependency org.scala-sbt sbt-launch $(SBT_VERSION) \
	  -retrieve '.build/[artifact]-[revision].[ext]' -notransitive -types jar > .build/ivy.log
	touch $@
endif

$(JAR): $(LAUNCHER) $(SCALA) LICENSE NOTICE
	$(SBT) delta/package
	touch $@

# The jar with a log store that loses responses, for the Python tests.
$(TEST_JAR): $(JAR)
	$(SBT) delta/Test/package
	touch $@
