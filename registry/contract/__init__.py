"""What a contract says: the catalogue of versions, their envelopes and value mappings, and table contracts.

In: folders of contracts and settings as people write them. Out: frozen values; nothing here looks at a message.
"""
