"""Contracts, conformance and decoding: pure Python, no Spark, no Kafka."""
