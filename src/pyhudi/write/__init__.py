"""From incoming data to a plan and its files: agree with the table, prepare, tag, profile, plan.

Planning is pure, and both engines run the same plan.
"""
