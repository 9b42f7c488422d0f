"""The schema registry as a server: what it keeps, its rules, and the REST surface that existing clients speak."""
