"""The command line: the only place that prints.

Commands import what they need when they run, so that `--help` answers at once.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fdgcl._interrupts import end_at_once, watch_interrupts
from fdgcl._version import __version__
from fdgcl.cli.failures import FAILURE, NOBODY_READS, explained
from fdgcl.cli.help import add_command
from fdgcl.cli.options import DEBUG, FDGCL, GIVEN, Debug, method_of
from fdgcl.cli.streams import finish_output, prepare_streams

#: The commands, in reading order: each is a module with a function of its name, but
#: for those that have commands of their own in an `app`.
_COMMANDS = (
    "demo",
    "embed",
    "transform",
    "evaluate",
    "report",
    "tune",
    "reproduce",
    "data",
    "diffuse",
    "train",
    "bench",
)


class _Commands(TyperGroup):
    """The commands in reading order, imported when asked for; failures explained."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        given = list(args)
        with explained(debug=lambda: "--debug" in given):
            context = super().make_context(info_name, args, parent, **extra)
        context.meta[GIVEN] = given
        return context

    def invoke(self, ctx: Any) -> Any:
        with explained(debug=lambda: bool(ctx.meta.get(DEBUG))):
            return super().invoke(ctx)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        # A name that is none is compared with all that are there.
        method = method_of(ctx)
        if cmd_name in _COMMANDS and method != FDGCL:
            return _load(cmd_name, method)
        for name in (cmd_name,) if cmd_name in _COMMANDS else _COMMANDS:
            if name not in self.commands:
                self.commands[name] = _load(name)
        return super().get_command(ctx, cmd_name)


def _load(name: str, method: str = FDGCL) -> Any:
    module = importlib.import_module(f"fdgcl.cli.{name}")
    late = getattr(module, "app", None)
    if late is None:
        late = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        for_settings = getattr(module, "for_settings", None)
        command = getattr(module, name)
        if for_settings is not None:
            from fdgcl.cli.settings import settings_of_method

            command = for_settings(settings_of_method(method))
        add_command(late, command)
    command = typer.main.get_command(late)
    command.name = name
    return command


app = typer.Typer(
    name="fdgcl",
    cls=_Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 success, 1 a failure that is not yours, 2 bad input, 3 the "
    "disk is full, 130 Ctrl-C, 143 SIGTERM (129 SIGHUP), 141 nobody reads the output.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fdgcl {__version__}")
        raise typer.Exit


@app.callback()
def fdgcl(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            callback=_show_version,
            is_eager=True,
        ),
    ] = False,
    debug: Debug = False,
) -> None:
    """Graph embeddings without labels, on homophilic and heterophilic graphs alike.

    New here? `fdgcl demo` needs no data and takes less than a minute. Then your own
    graph: `fdgcl embed edges.csv --features x.parquet -o z.parquet`
    """


def main() -> None:
    """Run the command line."""
    # Threads that spin while they wait make training many times slower as soon as
    # another process shares the cores; sleeping ones cost nothing otherwise.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    prepare_streams()
    watch_interrupts()
    try:
        app(prog_name="fdgcl")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else FAILURE
        # Rich exits by itself where nobody reads what it writes.
        if isinstance(end.__context__, BrokenPipeError):
            code = NOBODY_READS
    end_at_once()
    sys.exit(finish_output(code))
