"""Whose a model is, as OpenTelemetry's conventions name providers."""

PROVIDERS = {
    "claude": "anthropic",
    "gpt-": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "gemini": "gcp.gemini",
}
"""How names of models begin, and whose they are."""


def provider_named(model: str) -> str:
    """Whose a model is, as far as its name says; `workbench` where it does not."""
    prefix, slash, _ = model.partition("/")
    if slash:
        return prefix
    for beginning, provider in PROVIDERS.items():
        if model.startswith(beginning):
            return provider
    return "workbench"
