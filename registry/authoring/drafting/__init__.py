"""Drafts: a contract for messages of a dialect that no contract describes, as far as the messages show it.

In: messages. Out: the files of a contract folder, each statement with its evidence, and the questions left open.
"""
