"""Where the settings of a model start from, before what was given on the line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl.cli.source import Reading, Source
from fdgcl.cli.talk import Talk

if TYPE_CHECKING:
    from fdgcl.model import FDGCL


@dataclass(frozen=True)
class Start:
    """A preset, in one of its variants, or a file of settings; neither is the defaults.

    Attributes:
        preset: The dataset whose settings to take; None is the graph's own, if any.
        variant: Of the preset: ours or the paper's.
        file: A file of settings instead.
    """

    preset: str | None = None
    variant: str | None = None
    file: Path | None = None

    def settings(self, source: Source) -> tuple[dict[str, Any], str | None]:
        """Return the settings to start from, and where they come from in words.

        Raises:
            InputError: Preset, variant or file are unknown, or do not go together.
        """
        from fdgcl.presets import PRESETS, preset_settings, read_settings

        if self.file is not None:
            if self.preset is not None or self.variant is not None:
                message = "--settings takes the place of --preset and --variant"
                raise InputError(message)
            return read_settings(self.file), f"those in {self.file}"
        preset = self.preset
        if preset is None and source.path is None and source.name in PRESETS:
            preset = source.name
        if preset is None and self.variant is not None:
            message = (
                "--variant needs --preset NAME: the graph has no preset of its own"
            )
            raise InputError(message)
        if preset is None:
            return {}, None
        variant = self.variant or "best"
        whose = ", the paper's" if variant == "paper" else ""
        return preset_settings(preset, variant), f"the preset for {preset}{whose}"


def build_model(
    source: Source,
    start: Start,
    settings: Mapping[str, Any],
    reading: Reading,
    talk: Talk,
) -> FDGCL:
    """Return the model with its settings checked: the start, then what was given.

    Raises:
        InputError: A setting is out of range, or the start is unknown.
    """
    from fdgcl.model import FDGCL

    given = dict(settings)
    if reading.made:
        given["structural"] = reading.made
    first, words = start.settings(source)
    model = FDGCL(**{**first, **given})
    _ = model.check().torch_device  # a device that is not here is refused now
    if words is not None:
        changed = f", with {', '.join(sorted(given))} as given" if given else ""
        talk.notice(f"settings: {words}{changed}")
    return model
