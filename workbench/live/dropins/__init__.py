"""The compactor inside agent libraries. Each file needs its library, which is installed by who
uses it.
"""
