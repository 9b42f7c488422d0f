# Every chore by name; `just` alone runs the tests, which include lint, types and layers.

python := ".venv/bin/python"

default: test

# A virtual environment with everything that development needs
setup:
    python3 -m venv .venv
    .venv/bin/pip install -q -c requirements.lock -e '.[dev]'

test *ARGS:
    {{python}} -m pytest {{ARGS}}

lint:
    .venv/bin/ruff check .
    .venv/bin/ruff format --check .
    .venv/bin/mypy
    .venv/bin/lint-imports

format:
    .venv/bin/ruff check --fix .
    .venv/bin/ruff format .

# The pages of docs/catalogue, as the contracts are now
pages:
    {{python}} docs/write_catalogue.py

bench *ARGS:
    {{python}} bench/run.py {{ARGS}}

# The versions that tests are locked to
lock:
    .venv/bin/pip freeze --exclude-editable | grep -v '^cdc-contracts' > requirements.lock
