"""The steps of a write that only read, from a request to a plan, with the protocol by which an engine tags rows and runs tasks.

The engine of this process is here too.

It imports all other folders of `write`.
"""
