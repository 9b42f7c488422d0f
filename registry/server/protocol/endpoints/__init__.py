"""The endpoints of the protocol, one module per resource."""
