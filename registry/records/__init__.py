"""Records with their Kafka coordinates: batches of them, files they are read from, schemas of what runs write.

In: files and Arrow batches. Out: record batches, captures, and messages converted between JSON and Avro.
"""
