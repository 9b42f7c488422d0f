"""Write a pydantic model for each schema of a folder with datamodel-codegen, and read the messages beside it.

python models.py FOLDER      # in the environment that datamodel-code-generator is installed in
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

OPTIONS = ["--input-file-type", "jsonschema", "--output-model-type", "pydantic_v2.BaseModel", "--class-name", "Message"]


def main(folder: Path) -> None:
    """Print how many schemas and messages were taken, and what was not, as JSON."""
    schemas = compiled = messages = taken = 0
    problems: list[str] = []
    for number, schema in enumerate(sorted(folder.glob("*.schema.json"))):
        schemas += 1
        module = folder / f"model_{number}.py"
        command = [str(Path(sys.executable).with_name("datamodel-codegen")), "--input", str(schema), *OPTIONS]
        done = subprocess.run([*command, "--output", str(module)], capture_output=True, text=True, check=False)
        if done.returncode:
            problems.append(f"{schema.name}: {done.stderr.strip().splitlines()[-1]}")
            continue
        spec = importlib.util.spec_from_file_location(module.stem, module)
        if spec is None or spec.loader is None:
            raise ImportError(str(module))
        loaded = sys.modules[module.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        compiled += 1
        for message in sorted((folder / schema.name.removesuffix(".schema.json")).glob("*.json")):
            messages += 1
            try:
                loaded.Message.model_validate_json(message.read_text(encoding="utf-8"))
                taken += 1
            except ValueError as error:
                problems.append(f"{schema.name} {message.name}: {error}")
    counts = {"schemas": schemas, "compiled": compiled, "messages": messages, "taken": taken}
    print(json.dumps({**counts, "problems": problems}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
