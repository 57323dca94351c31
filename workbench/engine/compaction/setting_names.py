"""What a setting is called elsewhere than here: keys of a field's metadata."""

DOCUMENTED, ALSO = "documented", "also"
"""The keys in a field's metadata of the names that its system's document and other presets give
to the setting.
"""
