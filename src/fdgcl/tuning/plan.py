"""What a study is about: it is only ever continued with the same plan."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fdgcl.model import FDGCL
from fdgcl.tuning.space import Space


@dataclass(frozen=True)
class Plan:
    """Data, space, starting point and seeds.

    Attributes:
        data: Name of the graph.
        fingerprint: Hash of graph, labels and splits.
        space: Where it searches.
        start: The starting settings.
        seeds: Seeds of each trial.

    The method is that of the space.
    """

    data: str
    fingerprint: str
    space: Space
    start: Mapping[str, Any]
    seeds: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        searched = [one.name for one in self.space.dimensions]
        plain = {
            "data": self.data,
            "method": self.space.method,
            "fingerprint": self.fingerprint,
            "space": {**self.space.source, "searched": searched},
            "start": dict(self.start),
            "seeds": self.seeds,
        }
        value: dict[str, Any] = json.loads(json.dumps(plain))
        return value

    def difference(self, other: Mapping[str, Any]) -> str | None:
        """Say how a study of this plan differs from one that was begun with another.

        Args:
            other: The other plan, as plain values; of FD-GCL where it names no method.
        """
        ours, other = self.to_dict(), {"method": FDGCL.method_name, **other}
        changed = [
            f"{name} {other['start'].get(name)!r}"
            for name in sorted({*ours["start"], *other["start"]})
            if ours["start"].get(name) != other["start"].get(name)
        ]
        texts = {
            "method": f"of method {other['method']!r}",
            "fingerprint": f"on other data ({other['data']})",
            "seeds": f"with --seeds {len(other['seeds'])}",
            "space": "in another space",
            "start": f"from other settings ({', '.join(changed)})"
            if changed
            else "by another version of fdgcl, whose settings have other names",
        }
        return next(
            (text for key, text in texts.items() if ours[key] != other[key]), None
        )
