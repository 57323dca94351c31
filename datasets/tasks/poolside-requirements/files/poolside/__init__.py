"""Weekly water reports of the town's swimming pools."""

__version__ = "3.2.0"
