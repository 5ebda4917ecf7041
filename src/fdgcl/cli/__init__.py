"""The command line: the only place that prints.

Commands import what they need when they run, so that `--help` answers at once.
"""

from __future__ import annotations

import importlib
import os
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fdgcl._version import __version__
from fdgcl.cli import bench, demo, embed, evaluate, report, reproduce, transform, tune
from fdgcl.cli.failures import explained
from fdgcl.cli.options import DEBUG, GIVEN, Debug

_LATER = {"data": "fdgcl.cli.data"}
_ORDER = (
    "demo",
    "embed",
    "transform",
    "evaluate",
    "report",
    "tune",
    "reproduce",
    "data",
    "bench",
)


class _Commands(TyperGroup):
    """The commands in reading order; failures explained, sub-apps imported late."""

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

    def list_commands(self, ctx: Any) -> list[str]:
        names = {*super().list_commands(ctx), *_LATER}
        return sorted(names, key=_ORDER.index)

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
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (embed, transform, evaluate, tune, report, reproduce, bench, demo):
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

    New here? `fdgcl demo` needs no data and takes less than a minute. Then your own
    graph: `fdgcl embed edges.csv --features x.parquet -o z.parquet`
    """


def main() -> None:
    """Run the command line."""
    # Threads that spin while they wait make training many times slower as soon as
    # another process shares the cores; sleeping ones cost nothing otherwise.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    app(prog_name="fdgcl")
