"""Files: on any filesystem that pyarrow supports, in folders, written in bounded memory and read in batches."""
