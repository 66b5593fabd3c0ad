"""A real browser: Debian's Chromium, headless, driven through ChromeDriver's own HTTP protocol."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

MISSING = shutil.which("chromium") is None or shutil.which("chromedriver") is None
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--disable-dev-shm-usage",
)


class Browser:
    """One window."""

    def __init__(self, session: str) -> None:
        self._session = session

    def ask(self, path: str, /, method: str = "POST", **body: Any) -> Any:
        """https://www.w3.org/TR/webdriver2/"""
        data = json.dumps(body).encode() if method == "POST" else None
        with urlopen(Request(f"{self._session}{path}", data, method=method), timeout=30) as told:
            return json.load(told)["value"]

    def open(self, url: str) -> None:
        self.ask("/url", url=url)

    def run(self, script: str, *given: Any) -> Any:
        return self.ask("/execute/sync", script=script, args=list(given))

    @property
    def text(self) -> str:
        """What a person reads."""
        return str(self.run("return document.body.innerText"))

    @property
    def title(self) -> str:
        return str(self.ask("/title", "GET"))

    def press(self, words: str) -> None:
        """Click the first visible button, link, option or summary with these words."""
        script = """
          const all = [...document.querySelectorAll('button, a, summary, label.option')];
          const found = all.find((one) => one.innerText.includes(arguments[0]) && !one.disabled
            && one.getClientRects().length);
          found?.click();
          return Boolean(found);
        """
        self.wait(lambda: self.run(script, words), f"nothing says {words!r}")

    def write(self, selector: str, words: str) -> None:
        [found] = self.ask("/element", using="css selector", value=selector).values()
        self.ask(f"/element/{found}/value", text=words)

    def sees(self, words: str) -> None:
        self.wait(lambda: words in self.text, f"{words!r} is not on the page")

    def key(self, name: str) -> None:
        """Press a key as a person does: Tab, Enter, ArrowDown, ArrowUp, End."""
        codes = {"Tab": 9, "Enter": 13, "End": 35, "ArrowUp": 38, "ArrowDown": 40}
        code, text = codes[name], "\r" if name == "Enter" else ""
        key = {"key": name, "code": name, "windowsVirtualKeyCode": code}
        self.command("Input.dispatchKeyEvent", type="keyDown", text=text, **key)
        self.command("Input.dispatchKeyEvent", type="keyUp", **key)

    @property
    def focus(self) -> str:
        """What a key would act on: the element's name, and its words."""
        script = "const at = document.activeElement; return `${at.tagName} ${at.innerText}`"
        return str(self.run(script))

    def tab_to(self, words: str) -> None:
        """With the keyboard alone."""
        for _ in range(60):
            if words in self.focus and not self.focus.startswith("BODY"):
                return
            self.key("Tab")
        raise AssertionError(f"no tab leads to {words!r}: {self.focus}")

    def wait(self, holds: Callable[[], object], otherwise: str, *, within: float = 40.0) -> None:
        deadline = time.monotonic() + within
        while not holds():
            assert time.monotonic() < deadline, f"{otherwise}:\n{self.text}"
            time.sleep(0.05)

    def complaints(self) -> list[str]:
        """What the console shows as an error: a script's, or of the security policy."""
        found = self.ask("/se/log", type="browser")
        return [one["message"] for one in found if one["level"] == "SEVERE"]

    def size(self, width: int, height: int, *, dark: bool = False) -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])

    def command(self, name: str, **params: Any) -> Any:
        """https://chromedevtools.github.io/devtools-protocol/"""
        return self.ask("/goog/cdp/execute", cmd=name, params=params)


@contextmanager
def browsing(directory: Path, *more: str) -> Iterator[Browser]:
    """A browser with a profile of its own, and more flags; it has ended afterwards."""
    driver, port = _chromedriver()
    try:
        root = Browser(f"http://127.0.0.1:{port}/session")
        flags = [*_FLAGS, *more, f"--user-data-dir={directory}"]
        options = {"goog:chromeOptions": {"args": flags}, "goog:loggingPrefs": {"browser": "ALL"}}
        session = root.ask("", capabilities={"alwaysMatch": options})["sessionId"]
        browser = Browser(f"http://127.0.0.1:{port}/session/{session}")
        try:
            yield browser
        finally:
            browser.ask("", "DELETE")
    finally:
        driver.terminate()
        driver.communicate(timeout=10)


def _chromedriver() -> tuple[subprocess.Popen[str], str]:
    """It runs, and this is its port. On a busy machine a start ends at times without a word."""
    said = ""
    for _ in range(3):
        driver = subprocess.Popen(
            ["chromedriver", "--port=0"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert driver.stdout is not None
        for line in driver.stdout:
            if found := re.search(r"success.* on port (\d+)", line):
                return driver, found[1]
            said += line
        driver.kill()
        driver.communicate()
    raise AssertionError(f"chromedriver names no port: {said or 'it says nothing'}")
