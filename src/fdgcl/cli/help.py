"""Short help: what a newcomer needs; `--help-all` shows every option."""

from __future__ import annotations

import copy
import inspect
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from fdgcl.cli.parameters import Command, own_parameters, with_parameters

#: The options in the short help of each command that has one, without dashes. The
#: others' help is short as it is.
BASIC = {
    "embed": "features labels output evaluate method orders dim epochs seed device",
    "transform": "features output overwrite",
    "evaluate": "dataset labels level splits seed",
    "report": "embedding dataset labels output figures",
    "tune": "features labels minutes trials seeds study device output",
    "diffuse": "memory settings workers dry-run orders time step",
    "train": "output memory settings dry-run orders dim epochs seed device",
    "bench": "nodes edges dataset dim epochs device scaling out-of-core output",
    "convert": "output features labels graph-ids",
    "import": "store features memory direction dry-run",
}

_ALL = "fdgcl.help_all"  # key of the parser's `meta`


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        context.meta[_ALL] = True
        typer.echo(context.get_help())
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all",
        help="Show all options and exit.",
        callback=_show_all,
        is_eager=True,
    ),
]


class ShortHelp(TyperCommand):
    """A command whose `--help` shows its basic options, and `--help-all` all."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, all of it only where that was asked for."""
        if ctx.meta.get(_ALL):
            super().format_help(ctx, formatter)
            return
        basic = {f"--{name}" for name in BASIC[str(self.name)].split()}
        short = copy.copy(self)
        short.params = [
            _plain(one)
            for one in self.params
            if one.param_type_name == "argument" or basic & set(one.opts)
        ]
        short.add_help_option = False
        short.epilog = f"All options: {ctx.command_path} --help-all"
        super(ShortHelp, short).format_help(ctx, formatter)


def _plain(param: Any) -> Any:
    """An option in no panel of its own, as there are few."""
    shown = copy.copy(param)
    shown.rich_help_panel = None
    return shown


def add_command(app: typer.Typer, command: Command, name: str | None = None) -> None:
    """Add a command, with a short help if it is one of those that have such.

    Args:
        app: Where to.
        command: The command.
        name: Its name, unless that is the function's.
    """
    if (name or command.__name__) in BASIC:
        app.command(name, cls=ShortHelp)(_with_help_all(command))
    else:
        app.command(name)(command)


def _with_help_all(command: Command) -> Command:
    def call(*, help_all: bool, **arguments: Any) -> None:
        del help_all  # answered while options are read
        command(**arguments)

    added = inspect.Parameter(
        "help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=HelpAll
    )
    return with_parameters(command, [*own_parameters(command), added], call)
