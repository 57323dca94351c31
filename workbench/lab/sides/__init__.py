"""The sides of `workbench lab validate`: each file holds the measures against something that was
made without them.
"""
