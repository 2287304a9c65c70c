"""Structured Streaming: source and sink.

The topmost folder of `spark`: it may import all others.
"""
