"""Which lines of a history will be needed: learned weights, what they look at, and the lines
that they choose.
"""
