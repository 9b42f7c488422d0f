"""What the registry keeps: subjects, versions, ids, policies, in SQLite or PostgreSQL."""
