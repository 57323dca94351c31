"""A page in a browser, with all that it asked for and complained about."""

from typing import Any


class Opened:
    """A page of its own, at an address if one is given; `how` is how its browser is set up."""

    def __init__(self, browser: Any, address: str = "", **how: Any) -> None:
        self.context = browser.new_context(**how)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        if address:
            self.page.goto(address)
