"""Everything that poolside says no to."""


class PoolsideError(Exception):
    """Shown to the person without a traceback."""


class DataError(PoolsideError):
    """A sheet cannot be read. Names file, line and field."""

    def __init__(self, path, line, field, problem):
        super().__init__(f"{path}:{line}: {field}: {problem}")
        self.path, self.line, self.field = path, line, field


class ConfigError(PoolsideError):
    """A setting is missing or not what it should be."""
