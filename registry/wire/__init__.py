"""The wire: from the bytes of a Kafka value to the text of a JSON message, and back."""
