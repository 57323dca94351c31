"""Answers that real models gave from compacted contexts, graded: a criterion from outside for
every metric.
"""
