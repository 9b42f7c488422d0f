"""The REST protocol of schema registries: paths, media types, entities and endpoints."""
