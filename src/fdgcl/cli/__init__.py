"""The command line: the only place that prints.

Commands import what they need when they run, so that `--help` answers at once.
"""

from __future__ import annotations

import importlib
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fdgcl import __version__
from fdgcl.cli import bench, demo, embed, evaluate, transform
from fdgcl.cli.failures import explained
from fdgcl.cli.options import DEBUG, GIVEN, Debug

_LATER = {"data": "fdgcl.cli.data"}
_ORDER = ("demo", "embed", "transform", "evaluate", "data", "bench")


class _Commands(TyperGroup):
    """The commands in reading order; failures explained, sub-apps imported late."""

    def make_context(self, info_name: str | None, args: list[str], **extra: Any) -> Any:
        given = list(args)
        context = super().make_context(info_name, args, **extra)
        context.meta[GIVEN] = given
        return context

    def invoke(self, ctx: Any) -> Any:
        with explained(debug=lambda: bool(ctx.meta.get(DEBUG))):
            return super().invoke(ctx)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(_ORDER)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in _LATER and cmd_name not in self.commands:
            late: typer.Typer = importlib.import_module(_LATER[cmd_name]).app
            self.commands[cmd_name] = typer.main.get_command(late)
            self.commands[cmd_name].name = cmd_name
        return super().get_command(ctx, cmd_name)


app = typer.Typer(
    name="fdgcl",
    cls=_Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (embed, transform, evaluate, bench, demo):
    app.command()(getattr(module, module.__name__.rpartition(".")[2]))


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

    New here? `fdgcl demo` takes half a minute and needs no data. Then your own graph:
    `fdgcl embed edges.csv --features x.parquet -o z.parquet`.
    """


def main() -> None:
    """Run the command line."""
    app(prog_name="fdgcl")
