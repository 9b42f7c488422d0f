"""Spark itself: its jars and connectors, sessions, what their workers can do, and Arrow schemas as its schemas."""
