"""The parts of a Parquet file around its pages: footer and page index, as the structs of Thrift's compact protocol that they are."""
