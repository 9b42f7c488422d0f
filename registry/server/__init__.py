"""The schema registry as a server: what it keeps, its rules, and the REST protocol that existing clients speak.

In: HTTP requests. Out: HTTP responses, pages for a browser, metrics for Prometheus.
"""
