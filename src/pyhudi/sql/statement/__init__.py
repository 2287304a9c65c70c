"""A parsed statement and the settings it runs under.

It imports `text`.
"""
