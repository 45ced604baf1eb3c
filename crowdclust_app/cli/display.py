"""Whether a window can be opened at all; asking Qt would end the process when it cannot."""

from __future__ import annotations

import os
import re
import socket
import sys
from pathlib import Path

_X11_PORT = 6000


def display_problem() -> str | None:
    """Why no window can be opened, as a clause; None when one can."""
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return None
    wayland, x11 = os.environ.get("WAYLAND_DISPLAY"), os.environ.get("DISPLAY")
    if not wayland and not x11:
        return "there is no display here"
    if (wayland and _wayland_answers(wayland)) or (x11 and _x11_answers(x11)):
        return None
    return f"the display {x11 or wayland} does not answer"


def _wayland_answers(name: str) -> bool:
    return _answers(str(Path(os.environ.get("XDG_RUNTIME_DIR", "/nonexistent")) / name))


def _x11_answers(name: str) -> bool:
    found = re.fullmatch(r"(?P<host>.*):(?P<number>\d+)(\.\d+)?", name)
    if not found:
        return False
    host, number = found["host"], int(found["number"])
    if host and host != "unix" and not host.endswith("/unix"):
        return _answers((host, _X11_PORT + number))
    local = f"/tmp/.X11-unix/X{number}"
    # Linux servers listen under the same name without a file, too
    return _answers(local) or _answers("\0" + local)


def _answers(address: str | tuple[str, int]) -> bool:
    kind = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    try:
        if isinstance(address, tuple):
            socket.create_connection(address, timeout=2).close()
            return True
        with socket.socket(kind, socket.SOCK_STREAM) as probe:
            probe.settimeout(2)
            probe.connect(address)
    except OSError:
        return False
    return True
