"""See docs/design/0001-contracts.md for what lives on this floor."""
