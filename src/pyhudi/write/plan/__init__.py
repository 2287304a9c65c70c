"""Write plans: workload profile, small files, insert packing, task assignment. Pure.

It imports `input`.
"""
