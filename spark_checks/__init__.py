"""Spark jobs: topic or file, in batches, to findings and changes.

`audit` and `decode` take any batch DataFrame with the columns of the Kafka source.
"""

# Loaded first: a module that is loaded later would take the place of the function of its name.
import cdc_contracts.spark_checks.audit
import cdc_contracts.spark_checks.decode  # noqa: F401  for its place alone
from cdc_contracts.spark_checks.frames import Decoded, audit, decode

__all__ = ["Decoded", "audit", "decode"]
