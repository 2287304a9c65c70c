"""The columns of a table: meta columns, Avro and Arrow schema, evolution, conforming data."""
