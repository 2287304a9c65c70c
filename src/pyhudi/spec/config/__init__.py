"""The `hoodie.*` keys by area; `pyhudi.spec.config.config_keys` puts them together."""
