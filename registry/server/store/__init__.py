"""The registry's store: subjects, versions, ids and settings, in SQLite or PostgreSQL."""
