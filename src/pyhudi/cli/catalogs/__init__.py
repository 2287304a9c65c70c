"""Commands on the catalogs that tables are registered in."""
