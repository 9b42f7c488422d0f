# `just` alone runs the tests, which include lint, types and layers.

python := ".venv/bin/python"
nightly := python + " -m pytest --nightly"

default: test

# A virtual environment with everything that development needs
setup:
    python3 -m venv .venv
    .venv/bin/pip install -q -c requirements.lock -e '.[dev]'

test *ARGS:
    {{python}} -m pytest {{ARGS}}

# Everything that a default test run leaves out, and the long forms of tests
nightly:
    {{nightly}} -m "nightly or one_in"
    CDC_CONTRACTS_MUTATIONS=kinds {{nightly}} --timeout=3600 tests/registry/engine/test_record_pairs.py \
        tests/registry/engine/test_record_order.py tests/registry/engine/test_differential.py tests/registry/engine/test_many_tables.py \
        tests/registry/stats/test_stream_drift.py tests/registry/generate/test_rendering.py tests/registry/schema/test_compiled_schemas.py \
        tests/registry/validate/test_redaction.py tests/registry/stats/test_dropped_columns.py \
        tests/registry/tables/test_every_typed_column.py tests/registry/values/test_form_agreement.py tests/registry/schema
    CDC_CONTRACTS_LINT=all CDC_CONTRACTS_UNITS=all {{nightly}} tests/registry/lint/test_lint.py \
        tests/registry/stats/test_time_units.py
    CDC_SIGNAL_POINTS=20 CDC_SPARK_SIGNALS=1 {{nightly}} tests/cli/test_signals.py tests/cli/test_decode_engines.py
    CDC_CONTRACTS_INSTALL=1 {{nightly}} tests/cli/test_ci.py
    CDC_EXACT_VALUES=1 {{nightly}} tests/spark_checks/test_exact_values.py
    CDC_RANGE_CASES=200 CDC_PROPOSED_TOPICS=200 {{nightly}} tests/registry/engine/test_validation_by_range.py \
        tests/registry/stats/test_version_proposals.py
    CDC_CONTRACTS_DRIFTS=long {{nightly}} tests/cli/test_drifts_in_mid_stream.py
    CDC_CONTRACTS_FOREIGN=all {{nightly}} tests/registry/detect/test_foreign_messages.py \
        tests/registry/detect/test_every_version.py
    CDC_CHAIN_TOPICS=200 CDC_CHAIN_MESSAGES=20000 {{nightly}} tests/registry/stats/test_chain_topics.py tests/spark_checks/test_chains.py
    CDC_ALL_PAIRS=1 {{nightly}} --timeout=3600 tests/registry/compat/json/test_enumerated.py \
        tests/registry/compat/json/test_soundness.py
    CDC_MEANING_PAIRS=100000 {{nightly}} --timeout=3600 tests/registry/compat/json/test_cdc_meaning.py
    CDC_CONTRACTS_COLUMNS=400 CDC_CONTRACTS_BYTES=all {{nightly}} tests/registry/engine/test_every_column.py \
        tests/registry/engine/test_absent_members.py tests/registry/engine/test_byte_mutations.py \
        tests/registry/engine/test_profiles.py
    {{python}} tests/new_version.py "$(mktemp -d)" --nightly tests/registry tests/cli
    CDC_CONTRACTS_NATIVE=off {{nightly}} tests/registry/engine
    CDC_CONTRACTS_NATIVE=eager CDC_CONTRACTS_BYTES=all {{nightly}} --timeout=3600 tests/registry/engine
    CDC_CONTRACTS_BYTES=all just native-sanitized
    just native-fuzz
    just mutate-native
    CDC_CONTRACTS_SPARK=own {{nightly}} tests/spark_checks tests/cli/test_engines.py tests/cli/test_validating_commands.py

# Tests that depend on the versions of Python, Java, Spark and Kafka; CDC_CONTRACTS_KAFKA is that of the broker
versions *ARGS:
    {{nightly}} tests/api tests/testing tests/spark_checks tests/cli/test_app.py tests/cli/test_decode_engines.py \
        tests/cli/test_engines.py tests/registry/engine/test_native_agreement.py tests/registry/values {{ARGS}}

# Compile the native part for this checkout, as an installation does
native *ARGS:
    {{python}} hatch_build.py {{ARGS}}

# Test the native part under AddressSanitizer and UndefinedBehaviorSanitizer, with changed and hostile bytes
native-sanitized:
    mkdir -p build
    CDC_CONTRACTS_CC=cc {{python}} hatch_build.py --to build/libcdc_sanitized.so \
        -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
    LD_PRELOAD="$(cc -print-file-name=libasan.so) $(cc -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
        CDC_CONTRACTS_NATIVE=eager CDC_CONTRACTS_NATIVE_LIBRARY="$PWD/build/libcdc_sanitized.so" \
        {{nightly}} -n0 -p no:faulthandler --timeout=7200 \
        tests/registry/engine/test_placed_images.py tests/registry/engine/test_native_typed_columns.py \
        tests/registry/engine/test_native_agreement.py tests/registry/engine/test_native_avro.py \
        tests/registry/engine/test_value_index.py tests/registry/engine/test_native_limits.py \
        tests/registry/engine/test_native_calendar.py tests/registry/engine/test_native_columns.py \
        tests/registry/engine/test_native_utf8.py tests/registry/engine/test_absent_members.py \
        tests/registry/engine/test_byte_mutations.py tests/registry/engine/test_profiles.py

# Change messages of every version by chance, and run them through the native part under sanitizers
native-fuzz MESSAGES="2000000":
    CDC_CONTRACTS_FUZZ={{MESSAGES}} {{nightly}} -n0 --timeout=21600 tests/registry/engine/test_native_sanitized.py

lint:
    .venv/bin/ruff check .
    .venv/bin/ruff format --check .
    .venv/bin/mypy
    .venv/bin/lint-imports

format:
    .venv/bin/ruff check --fix .
    .venv/bin/ruff format .

# Renew the generated pages: docs/catalogue, docs/architecture.md and others
pages:
    {{python}} docs/write_catalogue.py
    {{python}} docs/write_architecture.py

# The documentation as a site, in site/
docs:
    NO_MKDOCS_2_WARNING=1 {{python}} -m mkdocs build --strict --quiet

# The same, served locally and rebuilt when a page changes
docs-serve:
    NO_MKDOCS_2_WARNING=1 {{python}} -m mkdocs serve

# Renew the pictures in docs/images
screenshots:
    {{python}} docs/write_screenshots.py

bench *ARGS:
    {{python}} bench/run.py {{ARGS}}

# Fail if the kernel has become slower than bench/ratios.json says
gate *ARGS:
    {{python}} bench/gate.py {{ARGS}}

# Mutation tests of the validators and the rules (docs/mutation.md)
mutate *ARGS:
    {{python}} bench/mutate.py {{ARGS}}

# Mutation tests of the native part: one of the list that survives fails (docs/mutation.md)
mutate-native *ARGS:
    {{python}} bench/native_mutants.py {{ARGS}}

# Run tools of others over all schemas, and print the table of docs/reference/other-tools.md
strangers *ARGS:
    {{python}} bench/strangers/run.py {{ARGS}}

# Run the walkthroughs of the documentation in fresh folders and installations, with the seconds of each step
walks *ARGS:
    {{python}} docs/run_walk.py {{ARGS}}

# Build a release in dist/ and try it: wheels, source distribution, SBOM, and images where Docker runs
release *ARGS:
    {{python}} deploy/release.py {{ARGS}}

# Lock the versions that tests use
lock:
    .venv/bin/pip freeze --exclude-editable | grep -v '^cdc-contracts' > requirements.lock
