"""Operations on Arrow arrays that know no file: hashes, encodings, timestamps as text, ordering values, Avro rows.

It imports no other folder of `kernels`.
"""
