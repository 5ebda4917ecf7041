"""Start several processes that train together, on this machine alone."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LOCAL = {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}


def free_port() -> int:
    """A port of the loopback that nobody uses.

    Below those that systems give to connections: one of these might be taken between
    being found free here and being used.
    """
    while True:
        port = secrets.choice(range(20_000, 32_000))
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port


def run_team(members: int, told: dict[str, Any], folder: Path) -> None:
    """Let so many processes do what they are told, and wait for them."""
    orders = folder / f"orders-{members}.json"
    orders.write_text(json.dumps(told))
    shared = {
        **os.environ,
        **LOCAL,
        "PYTHONPATH": str(HERE.parent),
        "WORLD_SIZE": str(members),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
    }
    started = [
        subprocess.Popen(
            [sys.executable, str(HERE / "team_member.py"), str(orders)],
            env={**shared, "RANK": str(rank)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(members)
    ]
    try:
        errors = [one.communicate(timeout=100)[1] for one in started]
    finally:
        for one in started:
            one.kill()
            one.wait()
    assert [one.returncode for one in started] == [0] * members, "\n".join(errors)
