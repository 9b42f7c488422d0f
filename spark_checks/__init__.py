"""Spark jobs: from topics or files, in batches, to findings and changes."""

import warnings

# With pandas 3, importing PySpark 4.2 prints this in every command. Rows go through Arrow, never through pandas.
warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
