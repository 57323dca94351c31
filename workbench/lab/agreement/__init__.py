"""Whether metrics and judges order strategies as success and simulated detours do, and where
they do not.
"""
