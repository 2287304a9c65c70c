"""Where the record of a key lives: which file slice an incoming row goes to.

One module for each index of Hudi; `choose` picks one and says why.
"""
