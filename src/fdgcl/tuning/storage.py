"""Optuna as it is used here: its storage, its sampler, its silence."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fdgcl._checks import InputError, MissingExtraError

if TYPE_CHECKING:
    import optuna

RANDOM_TRIALS = 10  # before the sampler begins to learn
_NAME = "fdgcl tune"
_LOCK_SECONDS = 120


def require_optuna() -> None:
    """Refuse to begin without Optuna.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import optuna  # noqa: F401
    except ImportError:
        package, extra = "optuna", "tune"
        raise MissingExtraError(package, extra, "tuning") from None


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Optuna's own messages back."""
    import optuna

    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(level)


def load_study(path: Path, stack: ExitStack) -> optuna.Study:
    """Load the study in a file, or make one; `stack` closes it.

    Raises:
        InputError: The file is something else, or damaged.
    """
    import optuna
    from sqlalchemy.exc import SQLAlchemyError

    try:
        storage = optuna.storages.RDBStorage(
            f"sqlite:///{path}",
            engine_kwargs={"connect_args": {"timeout": _LOCK_SECONDS}},
        )
        stack.callback(storage.engine.dispose)
        stack.callback(storage.remove_session)
        _write_ahead(storage)
        return optuna.create_study(
            storage=storage,
            study_name=_NAME,
            direction="maximize",
            load_if_exists=True,
        )
    except (SQLAlchemyError, RuntimeError, optuna.exceptions.OptunaError) as error:
        message = f"{path} is not a study of fdgcl tune, or is damaged"
        raise InputError(message) from error


def _write_ahead(storage: optuna.storages.RDBStorage) -> None:
    """Write to a log first, without waiting for the disk at every entry.

    A trial makes a dozen entries. A killed process loses none of them, a power cut the
    last ones at most.
    """
    from sqlalchemy import event

    def prepare(connection: Any, _: object) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")

    storage.remove_session()
    storage.engine.dispose()
    event.listen(storage.engine, "connect", prepare)


def sampler_for(seed: int, number: int) -> optuna.samplers.BaseSampler:
    """A sampler for one trial: a study that was cut off goes on as it would have."""
    from optuna.samplers import TPESampler

    [mixed] = np.random.SeedSequence((seed, number)).generate_state(1)
    return TPESampler(
        seed=int(mixed),
        n_startup_trials=RANDOM_TRIALS,
        multivariate=True,
        group=True,
        constant_liar=True,
    )
