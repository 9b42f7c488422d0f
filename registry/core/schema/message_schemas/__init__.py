"""Message schemas: what a version says of its messages, as one JSON Schema and one Avro schema that stand on their own.

`message.schema.json` and `message.avsc` in the folder of each version are written by these modules from its contract:
from the envelope (`envelope.schema.json`, `envelope.avsc`), from `contract.yaml` and from the value mappings. A reader
who has the file needs nothing else. Begin with `message_json_schema.py`.
"""
