"""The schema registry server: its store, its rules, and the REST protocol of existing schema registry clients.

In: HTTP requests. Out: HTTP responses, pages for a browser, metrics for Prometheus.
"""
