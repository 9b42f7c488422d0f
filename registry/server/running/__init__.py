"""The running server: the application, its limits, its log, and where it listens."""
