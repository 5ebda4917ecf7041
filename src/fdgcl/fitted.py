"""What a model keeps once it is fitted: saved, loaded, shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fdgcl._checks import InputError, in_words
from fdgcl._estimator import Estimator
from fdgcl._html import Fact, table
from fdgcl.methods import find_method
from fdgcl.methods.base import Config, GraphModel, Method
from fdgcl.run_folder import RunFolder
from fdgcl.training.records import EpochRecord

if TYPE_CHECKING:
    from fdgcl.graphs.schema import Schemas


class Fitted(Estimator):
    """An estimator of a method, with what training leaves behind.

    Attributes:
        method_name: Name of the method.
    """

    method_name: ClassVar[str]

    seed: int
    device: str
    epochs: int
    readout: Sequence[str]
    history_: list[EpochRecord]
    notices_: list[str]
    _config: Config
    _model: GraphModel

    @classmethod
    def _method(cls) -> Method[Any, Any]:
        return find_method(cls.method_name)

    def check(self) -> Any:
        """Check all settings and return them; bad ones raise `InputError`."""
        return self._method().settings(**self.get_params(deep=False))

    @property
    def feature_schema_(self) -> Schemas | None:
        """How the columns of the training's table became features, if they did.

        `read_graph(..., schema=model.feature_schema_)` reads another table alike.
        """
        from fdgcl.graphs.schema import schema_from_dict

        self._fitted_model()
        return schema_from_dict(self._config.schema["table"], "the model's config")

    @property
    def config(self) -> Config:
        """What the model was fitted with."""
        self._fitted_model()
        return self._config

    def save(self, folder: str | Path) -> None:
        """Write settings, weights and history to a folder."""
        trained = self._fitted_model()
        files = RunFolder(folder)
        files.write_config(self._config)
        files.write_metrics(self.history_)
        files.write_model(trained)

    @classmethod
    def load(cls, folder: str | Path, *, device: str | None = None) -> Self:
        """Read a model that `save` or a run left in a folder."""
        files = RunFolder(folder)
        config = files.read_finished()
        if config.method != cls.method_name:
            message = (
                f"{files.folder} holds a run of method {config.method!r}, not of "
                f"{cls.method_name!r}: load_model(folder) loads any"
            )
            raise InputError(message)
        given = config.settings
        model = cls(**{one.name: getattr(given, one.name) for one in fields(given)})
        model.device = device or model.device
        trained = cls._method().new_model(replace(config, settings=model.check()))
        files.read_model(trained)
        model._config, model._model = config, trained
        model.history_ = files.read_metrics()
        model.notices_ = []
        return model

    def _fitted_model(self) -> GraphModel:
        if not hasattr(self, "_model"):
            message = "this model is not fitted yet: call fit first"
            raise InputError(message)
        return self._model

    def _repr_html_(self) -> str:
        """Show settings, training and notices, as notebooks do."""
        return table(type(self).__name__, self._facts())

    def _facts(self) -> Iterator[tuple[str, Fact]]:
        changed = [f"{name} = {value!r}" for name, value in self._changed().items()]
        yield "settings", changed or "the defaults"
        if not hasattr(self, "_model"):
            yield "fitted", "not yet"
        else:
            name, nodes = self._config.graph["name"], self._config.graph["nodes"]
            yield "fitted", f"on {name}, {nodes:,} nodes"
            yield from _training(getattr(self, "history_", []))
        yield "notices", getattr(self, "notices_", [])


def _training(history: list[EpochRecord]) -> Iterator[tuple[str, Fact]]:
    yield "epochs", len(history)
    if history:
        last = history[-1]
        yield "last loss", f"{last.loss:.4f}"
        ranks = in_words([f"{rank:.1f}" for rank in last.effective_ranks])
        yield "effective ranks", f"{ranks} (of the views)"
