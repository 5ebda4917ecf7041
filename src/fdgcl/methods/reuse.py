"""A trained model on another graph: does it fit?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from fdgcl._checks import InputError
from fdgcl.graphs import Graph
from fdgcl.graphs.data import table_of
from fdgcl.graphs.store.store import Store
from fdgcl.methods.preparation import Preparation, check_is_graph, check_width
from fdgcl.methods.settings import MethodSettings

S = TypeVar("S", bound=MethodSettings)


def matched(
    graph: Graph, settings: S, schema: dict[str, Any]
) -> tuple[Graph, S, tuple[str, ...]]:
    """Return another graph as a trained model takes it, or refuse it.

    Args:
        graph: The graph, whose features must be those of training.
        settings: The model's.
        schema: What the training graph's features looked like.

    Returns:
        The graph with the columns of the training, the settings with the features that
        were made then, and what to tell.
    """
    check_is_graph(graph)
    # Features are made as they were for training, whatever was decided then.
    made = replace(settings, structural=schema["structural"] or settings.structural)
    graph, ignored = _with_columns_of(graph, schema)
    return graph, made, ignored


def check_store(store: Store, schema: dict[str, Any]) -> None:
    """Refuse a store whose columns are not those of the training, in that order.

    Raises:
        InputError: They have other names, another order, or were encoded otherwise.
    """
    trained, found = schema["feature_names"], store.feature_names
    _refuse_other_encoding(table_of(store), schema)
    if trained is None or found is None or list(trained) == list(found):
        return
    lacking = [name for name in trained if name not in set(found)]
    extra = [name for name in found if name not in set(trained)]
    if lacking or extra:
        how = f"it lacks {_some(lacking)}" if lacking else f"it has {_some(extra)} more"
    else:
        how = "they stand in another order"
    message = (
        f"the features of {store.folder} are not those that the model was trained on: "
        f"{how}; import a table with the same columns, in the same order"
    )
    raise InputError(message)


def check_schema(schema: dict[str, Any], prepared: Preparation[Any]) -> None:
    """Refuse a graph whose features are not those a model was trained on."""
    found = prepared.schema()
    if found["structural"] != schema["structural"]:
        message = (
            f"the model was trained on {_kind(schema)}, this graph has {_kind(found)}"
        )
        raise InputError(message)
    check_width(schema["num_features"], found["num_features"])
    if found["structural"] == "spectral" and found["adjacency"] != schema["adjacency"]:
        message = (
            "the model was trained on spectral features, which belong to one graph "
            "alone; train with structural features 'degree' to embed other graphs"
        )
        raise InputError(message)


def _with_columns_of(
    graph: Graph, schema: dict[str, Any]
) -> tuple[Graph, tuple[str, ...]]:
    """Return the graph with the columns of the training, in that order, by name.

    Raises:
        InputError: Some are missing, or were encoded in another way.
    """
    trained, found = schema["feature_names"], graph.feature_names
    _refuse_other_encoding(table_of(graph), schema)
    if trained is None or found is None or list(trained) == list(found):
        return graph, ()
    places = {name: place for place, name in enumerate(found)}
    lacking = [name for name in trained if name not in places]
    extra = [name for name in found if name not in set(trained)]
    if lacking:
        message = (
            f"this graph lacks {len(lacking)} of the {len(trained)} features that the "
            f"model was trained on: {_some(lacking)}"
        )
        message += f"; it has others: {_some(extra)}" if extra else ""
        raise InputError(message)
    assert graph.features is not None
    order = [places[name] for name in trained]
    same = replace(graph, features=graph.features[:, order], feature_names=trained)
    if not extra:
        return same, ()
    return same, (f"features that the model was not trained on: {_some(extra)}",)


def _refuse_other_encoding(
    found: dict[str, Any] | None, schema: dict[str, Any]
) -> None:
    """Refuse features made of a table by other scales or categories than trained on."""
    trained = schema["table"]
    if trained is None or found is None or trained == found:
        return
    message = (
        "the features of this graph were made from their table by other scales or "
        "categories than those the model was trained on: read it by read_graph(..., "
        "schema=model.feature_schema_)"
    )
    raise InputError(message)


def _some(names: Sequence[str]) -> str:
    more = len(names) - 5
    return ", ".join(map(repr, names[:5])) + (f" and {more} more" if more > 0 else "")


def _kind(schema: dict[str, Any]) -> str:
    made = schema["structural"]
    return "the graph's own features" if made is None else f"{made!r} features"
