"""Records with their Kafka coordinates: batches, input files, and the schemas of output rows.

In: files and Arrow batches. Out: record batches, captures, and messages converted between JSON and Avro.
"""
