"""Whether the measure measures: checks that the workbench runs on itself, each with a defect
that it would find.
"""
