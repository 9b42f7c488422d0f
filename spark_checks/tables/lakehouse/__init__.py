"""Tables of Delta and Iceberg: histories of changes, and the rows that are there now."""
