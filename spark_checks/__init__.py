"""Spark jobs: from topics or files, in batches, to findings and changes.

`audit` and `decode` take any batch DataFrame with the columns of the Kafka source.
"""

from cdc_contracts.spark_checks.dataframes import Decoded, audit, decode

__all__ = ["Decoded", "audit", "decode"]
