"""Fetches the bridge's messages: each is shown once and then gone, as their server does it."""

from pathlib import Path

inbox = Path(__file__).parent / "inbox.txt"
print(inbox.read_text() if inbox.exists() else "no new messages")
inbox.unlink(missing_ok=True)
