"""The endpoints of the protocol, by what they are about."""
