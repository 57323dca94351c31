"""Sessions × presets × metrics, on disk."""
