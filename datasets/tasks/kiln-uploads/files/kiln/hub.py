"""Talks to the hub."""

import json
from urllib.request import Request, urlopen


class Hub:
    def __init__(self, address):
        self.address = address

    def send(self, firing, key):
        body = json.dumps({"key": key, **firing}).encode()
        request = Request(f"{self.address}/v3/firings", data=body, headers={"Content-Type": "application/json"})
        with urlopen(request) as answer:
            return json.loads(answer.read())["id"]

    def keys(self, kiln):
        with urlopen(f"{self.address}/v3/firings?kiln={kiln}") as answer:
            return set(json.loads(answer.read())["keys"])
