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

# Everything that a default test run leaves out, and the long forms of tests: all of tests/nightly_forms.yaml, or some
nightly *ARGS:
    {{python}} tests/nightly.py {{ARGS}}

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
        tests/registry/engine/test_byte_mutations.py tests/registry/engine/test_profiles.py \
        tests/registry/engine/test_text_image_values.py

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

# Run real producers on real databases, and renew what they wrote: all, or some by name (tests/producers/README.md)
capture *ARGS:
    {{python}} tests/producers/run_producers.py {{ARGS}}

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

# Run the pages that a newcomer reads on two machines, and write the seconds of each step into docs/reference/first-contact.md
walk *ARGS:
    {{python}} docs/run_walk.py {{ARGS}}

# Build a release in dist/ and try it: wheels, source distribution, SBOM, and images where Docker runs
release *ARGS:
    {{python}} deploy/release.py {{ARGS}}

# Lock the versions that tests use
lock:
    .venv/bin/pip freeze --exclude-editable | grep -v '^cdc-contracts' > requirements.lock
