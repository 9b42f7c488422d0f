"""Topics: where their records are, how they are read, and what Kafka says when it refuses."""
