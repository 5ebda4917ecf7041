"""The model that workflows train: its settings from presets, files and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError, nearest
from fdgcl.workflows.feedback import Feedback
from fdgcl.workflows.source import Source

if TYPE_CHECKING:
    from fdgcl.embedder import GraphEmbedder


def new_model(settings: Mapping[str, Any], method: str = "fdgcl") -> GraphEmbedder:
    """Return the estimator of a method with these settings.

    Raises:
        InputError: There is no such method, or it has no such setting.
    """
    from fdgcl.estimators import estimator_of

    kind = estimator_of(method)
    known = kind().get_params()
    for name in settings:
        if name not in known:
            message = (
                f"method {method!r} has no setting {name!r}{nearest(name, known)} (it "
                f"has {', '.join(known)})"
            )
            raise InputError(message)
    model: GraphEmbedder = kind(**settings)
    return model


@dataclass(frozen=True)
class Start:
    """Where settings start from: a preset in a variant, a file, or the defaults.

    Attributes:
        preset: The dataset whose settings to take; None is the graph's own, if any.
        variant: Of the preset: ours or the paper's.
        file: A file of settings instead.
        method: Name of the method that they are for.
    """

    preset: str | None = None
    variant: str | None = None
    file: Path | None = None
    method: str = "fdgcl"

    def settings(self, source: Source) -> tuple[dict[str, Any], str | None]:
        """Return the settings to start from, and where they come from in words.

        Raises:
            InputError: Preset, variant or file are unknown, or do not go together.
        """
        from fdgcl.methods import find_method
        from fdgcl.presets import PRESETS, preset_settings, read_settings

        if self.file is not None:
            if self.preset is not None or self.variant is not None:
                message = "`settings_file` takes the place of `preset` and `variant`"
                raise InputError(message)
            kind = find_method(self.method).settings
            found = read_settings(self.file, kind, self.method)
            return found, f"those in {self.file}"
        if self.method != "fdgcl":
            return self._published(source)
        preset = self.preset
        if preset is None and source.is_dataset and source.name in PRESETS:
            preset = source.name
        if preset is None and self.variant is not None:
            message = (
                "`variant` needs `preset=NAME`: the graph has no preset of its own"
            )
            raise InputError(message)
        if preset is None:
            return {}, None
        variant = self.variant or "best"
        whose = ", the paper's" if variant == "paper" else ""
        return preset_settings(preset, variant), f"the preset for {preset}{whose}"

    def _published(self, source: Source) -> tuple[dict[str, Any], str | None]:
        """What a method's authors published for a dataset, or its defaults."""
        from fdgcl.methods.published import published, published_datasets

        if self.variant is not None:
            message = (
                f"`variant` belongs to presets of method 'fdgcl', not of "
                f"{self.method!r}, got {self.variant!r}"
            )
            raise InputError(message)
        preset = self.preset
        if preset is None and source.is_dataset:
            known = published_datasets(self.method)
            preset = source.name if source.name in known else None
        if preset is None:
            return {}, f"the defaults of {self.method}"
        found = published(self.method, preset)
        return found, f"those that the authors of {self.method} published for {preset}"

    def model(
        self,
        source: Source,
        given: Mapping[str, Any] | None,
        made: str | None,
        told: Feedback,
    ) -> GraphEmbedder:
        """Return the model with its settings checked: the start, then what was given.

        Args:
            source: Of the graph, which may have a preset.
            given: Settings that override those to start from.
            made: The kind of features to make from the edges, if that was asked for.
            told: Hears where the settings come from.

        Raises:
            InputError: A setting is out of range, or the start is unknown.
        """
        changed = {**(given or {}), **({"structural": made} if made else {})}
        first, words = self.settings(source)
        model = new_model({**first, **changed}, self.method)
        _ = model.check().torch_device  # a device that is not here is refused now
        if words is not None:
            names = f", with {', '.join(sorted(changed))} as given" if changed else ""
            told.notice(f"settings: {words}{names}")
        return model
