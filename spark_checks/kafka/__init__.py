"""Kafka: offsets of topics, their records, and failures reported in plain words."""
