"""Writes `docs/images/`: the report of an audit and pages of the registry, as a browser shows them.

`python docs/write_screenshots.py` needs Java for the demo, and Chromium. Run it again when pages look different.
"""

from __future__ import annotations

import base64
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, sync_playwright

IMAGES: Final = Path(__file__).parent / "images"
PROGRAM: Final = (sys.executable, "-m", "cdc_contracts.cli")
WIDTH: Final = 1200
REGISTRY: Final = {
    "registry": ("/ui", 730),
    "registry-compare": ("/ui/compare?old=dts/canal@1&new=dts/canal@2", 640),
}
"""Pages of the registry by the names of their pictures: address, and height of the window."""
_SECONDS: Final = 60
_TO_WEBP: Final = """async address => {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 1);
}"""


def take(browser: Browser, address: str, name: str, height: int) -> None:
    """Write the picture of a page, as tall as given, as WebP without loss."""
    page = browser.new_page(viewport={"width": WIDTH, "height": height}, color_scheme="light")
    page.goto(address)
    picture = base64.b64encode(page.screenshot()).decode()
    page.goto("about:blank")  # which forbids nothing
    converted = page.evaluate(_TO_WEBP, f"data:image/png;base64,{picture}")
    (IMAGES / f"{name}.webp").write_bytes(base64.b64decode(converted.partition(",")[2]))
    page.close()


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """A registry with the contracts of the catalogue is there; yields its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    call = (
        *PROGRAM,
        "registry",
        "serve",
        "--port",
        str(port),
        "--store",
        str(folder / "registry.sqlite"),
        "--log",
        "none",
    )
    server = subprocess.Popen(call)  # noqa: S603
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(f"{address}/healthz")
        yield address
    finally:
        server.terminate()
        server.wait()


def wait_for(address: str) -> None:
    """Return when something answers there. Raises TimeoutError when nothing does in time."""
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(address).close()  # noqa: S310
        except urllib.error.URLError:
            time.sleep(0.2)
        else:
            return
    raise TimeoutError(address)


def main() -> None:
    """Write every picture."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as named, sync_playwright() as play, serving(Path(named)) as address:
        folder = Path(named)
        subprocess.run((*PROGRAM, "demo"), check=True, cwd=folder, stdout=subprocess.DEVNULL)  # noqa: S603
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        take(browser, (folder / "cdc-contracts-demo/report.html").as_uri(), "report", 1135)
        for name, (path, height) in REGISTRY.items():
            take(browser, address + path, name, height)
        browser.close()


if __name__ == "__main__":
    main()
