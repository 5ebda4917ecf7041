"""Help, version, and what typing `fdgcl` costs."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import typer
from smallgraph import Command

from fdgcl import __version__
from fdgcl.cli import app
from fdgcl.cli.help import BASIC
from fdgcl.cli.settings import flag_of, known_settings

COMMANDS = [
    ("demo",),
    ("embed",),
    ("transform",),
    ("evaluate",),
    ("report",),
    ("tune",),
    ("reproduce",),
    ("data",),
    ("diffuse",),
    ("train",),
    ("bench",),
    ("data", "list"),
    ("data", "info"),
    ("data", "verify"),
    ("data", "convert"),
    ("data", "import"),
    ("data", "generate"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help(command: tuple[str, ...], fdgcl: Command) -> None:
    result = fdgcl(*command, "--help")
    assert result.exit_code == 0
    assert f"fdgcl {' '.join(command)}" in result.stdout
    assert "?" not in result.stdout.replace("New here?", "")


def test_help_lists_the_commands(fdgcl: Command) -> None:
    result = fdgcl("--help")
    assert result.exit_code == 0
    places = [result.stdout.index(f"│ {command[0]} ") for command in COMMANDS[:11]]
    assert places == sorted(places)
    assert "completion" not in result.stdout


def test_no_arguments_show_the_help(fdgcl: Command) -> None:
    result = fdgcl()
    assert "Usage: fdgcl" in result.output
    assert "error: " not in result.output


def test_embed_groups_its_options(fdgcl: Command) -> None:
    text = fdgcl("embed", "--help-all").stdout
    for panel in ("Data", "Output", "Run", "Diffusion", "Training"):
        assert f"─ {panel} ─" in text


LONG = [command for command in COMMANDS if command[-1] in BASIC]


def _options(command: tuple[str, ...]) -> list[list[str]]:
    found = typer.main.get_command(app)
    for name in command:
        found = found.get_command(typer.Context(found), name)  # type: ignore[attr-defined]
    return [
        [*one.opts, *one.secondary_opts]
        for one in found.params
        if one.param_type_name == "option"
    ]


def test_every_short_help_is_of_a_command() -> None:
    assert sorted(command[-1] for command in LONG) == sorted(BASIC)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_is_short(
    command: tuple[str, ...], fdgcl: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = fdgcl(*command, "--help").stdout
    assert len(text.splitlines()) <= 48
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("command", LONG, ids=" ".join)
def test_short_help_has_the_basic_options_and_names_the_rest(
    command: tuple[str, ...], fdgcl: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for flag in ("--help", "-h"):
        text = fdgcl(*command, flag).stdout
        last = f"All options: fdgcl {' '.join(command)} --help-all"
        assert text.strip().splitlines()[-1].strip() == last
        basic = {f"--{name}" for name in BASIC[command[-1]].split()}
        rows = re.findall(r"^│ (?:\*  |   )?(--[\w-]+)", text, re.MULTILINE)
        assert sorted(rows) == sorted(basic)


@pytest.mark.parametrize("command", LONG, ids=" ".join)
def test_all_help_has_every_option(
    command: tuple[str, ...], fdgcl: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    result = fdgcl(*command, "--help-all")
    assert (result.exit_code, result.stderr) == (0, "")
    for names in _options(command):
        for name in names:
            assert re.search(rf"[ ,]{name}[ ,]", result.stdout)
    assert len(result.stdout.splitlines()) > 48


def test_all_help_comes_before_what_is_wrong(fdgcl: Command) -> None:
    result = fdgcl("embed", "nowhere.csv", "--dim", "x", "--help-all")
    assert result.exit_code == 0
    assert "--window" in result.stdout


def test_options_outside_the_short_help_are_suggested(fdgcl: Command) -> None:
    result = fdgcl("embed", "edges.csv", "--windw", "3")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no such option: --windw" in result.stderr
    assert "--window" in result.stderr


def test_version(fdgcl: Command) -> None:
    assert fdgcl("--version").stdout == f"fdgcl {__version__}\n"


HEAVY = {"torch", "numpy", "scipy", "sklearn", "pyarrow", "plotly", "optuna"}


def _loaded_by(arguments: list[str]) -> set[str]:
    code = (
        "import sys\n"
        "from fdgcl.cli import app\n"
        f"try:\n    app({arguments!r}, prog_name='fdgcl')\n"
        "except SystemExit:\n    pass\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["embed", "--help"], ["embed", "--help-all"], ["--version"]],
)
def test_help_does_not_load_the_numerics(arguments: list[str]) -> None:
    assert not HEAVY & _loaded_by(arguments)


def test_the_version_loads_no_command() -> None:
    assert not {f"fdgcl.cli.{command[0]}" for command in COMMANDS} & _loaded_by(
        ["--version"]
    )


def test_a_misspelt_command_is_guessed(fdgcl: Command) -> None:
    result = fdgcl("embd")
    assert result.exit_code == 2
    assert "no such command 'embd'. Did you mean 'embed'?" in result.stderr


def test_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "fdgcl", "embed", "nowhere.csv"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: there is no file nowhere.csv")
    assert len(done.stderr.splitlines()) == 1


def test_every_setting_of_the_model_is_an_option_with_its_default(
    fdgcl: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fdgcl.model import FDGCL

    monkeypatch.setenv("COLUMNS", "1000")
    shown = fdgcl("embed", "--help-all").stdout
    params = FDGCL().get_params()
    assert set(known_settings()) == set(params)
    del params["structural"]  # asked for by --features
    for name, value in params.items():
        flag = re.escape(flag_of(name))
        [row] = re.findall(
            rf"^│ {flag} (.*?)^[│╰] ?[-─]", shown, re.MULTILINE | re.DOTALL
        )
        [default] = re.findall(r"\[default: \((.*)\)\]", row)
        assert default == _shown(name, value) or value is None


def _word(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _shown(name: str, value: object) -> str:
    if isinstance(value, bool):
        return name if value else f"no-{name}"
    if isinstance(value, tuple):
        return ",".join(map(_word, value)) or "nothing"
    return _word(value)


def test_help_lists_the_exit_codes(fdgcl: Command) -> None:
    text = " ".join(fdgcl("--help").stdout.split())
    assert "Exit codes: 0 success" in text
    assert "143 SIGTERM" in text


def test_a_wrong_option_leads_to_the_help_that_lists_all(fdgcl: Command) -> None:
    for words, shown in (
        (("embed", "e.csv", "--windo", "3"), "(see: fdgcl embed --help-all)"),
        (("data", "list", "--jsn"), "(see: fdgcl data list --help)"),
    ):
        result = fdgcl(*words)
        assert result.exit_code == 2
        assert shown in result.stderr
