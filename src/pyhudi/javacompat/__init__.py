"""Java's text and binary formats, as far as Hudi's files and key generators depend on them.

Date patterns of Joda-Time, time zones by Java's ids, the text of floating point numbers, Kryo's stream, Jackson's JSON style,
`.properties` files, Murmur hashes, random numbers. It knows nothing of tables and imports only `pyhudi.errors`.
"""
