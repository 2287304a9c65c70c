"""Schemas whose columns have ids: what `hoodie.schema.on.read.enable` keeps, so that columns may be renamed, dropped and moved."""
