"""Exams of the work with a model: `writer.py` has the questions written, `sitting.py` has
contexts read and graded.
"""
