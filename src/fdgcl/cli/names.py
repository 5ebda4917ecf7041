"""What the arguments of workflows are called on the command line."""

from __future__ import annotations

import re

#: Arguments of commands, and options that are not called as the argument is, or as
#: the argument with one of its values is.
_OTHERS = {
    "graph": "GRAPH",
    "run_folder": "RUN",
    "store": "STORE",
    "settings_file": "--settings",
    "loop_epochs=0": "--no-loop",
}
_ARGUMENT = re.compile(r"`([a-z_]+)(?:=([^`]*))?`")


def as_options(text: str) -> str:
    """A message of a workflow with its arguments named as options.

    Workflows name arguments between backticks, with or without a value.

    >>> as_options("`graph_ids`: g.csv is not there")
    '--graph-ids: g.csv is not there'
    >>> as_options("leave out `evaluate` or `level='node'`")
    'leave out --evaluate or --level node'
    """
    return _ARGUMENT.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    whole, name, value = found[0].strip("`"), found[1], found[2]
    if whole in _OTHERS:
        return _OTHERS[whole]
    option = _OTHERS.get(name, "--" + name.replace("_", "-"))
    if value in (None, "True"):  # a flag says so without a value
        return option
    return f"{option} {value}".replace("'", "")
