"""The `hoodie.*` keys by area; `pyhudi.spec.config_keys` puts them together."""
