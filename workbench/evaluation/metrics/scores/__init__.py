"""The metrics that ship with the package, by what they measure."""
