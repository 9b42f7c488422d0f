"""Messages of a JSON dialect turned into their Avro form and back, without loss."""
