"""What a replay costs: prices, requests, and the check against reported usage."""
