"""Synchronisation of a folder in git with a schema registry: ids, plans, and applying them.

In: a folder of contracts and a server. Out: `ids.lock`, a plan of steps, and what the server holds as files.
"""
