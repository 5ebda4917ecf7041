"""What all workflows have in common: loaded late, silent, below the command line."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from fdgcl import workflows


def test_importing_workflows_loads_no_numerics() -> None:
    code = (
        "import sys, fdgcl.workflows as w, fdgcl.workflows.source\n"
        "assert not {'torch', 'numpy', 'scipy', 'pyarrow'} & set(sys.modules)\n"
        "assert 'embed' in dir(w)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_importing_tables_does_not_load_torch(tmp_path: Path) -> None:
    """What a process holds before it begins counts within the bound on its memory."""
    code = (
        "import sys\n"
        "from fdgcl.workflows import generate, import_table\n"
        f"edges, x = generate(60, 90, {str(tmp_path)!r}, features=2).files\n"
        f"import_table(edges, {str(tmp_path / 'store')!r}, features=x, memory='2GB')\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", workflows.__all__)
def test_all_that_is_offered_is_a_function(name: str) -> None:
    assert inspect.isfunction(getattr(workflows, name))


def test_a_name_that_there_is_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'embde'"):
        _ = workflows.embde  # type: ignore[attr-defined]


def test_no_workflow_prints_or_knows_the_command_line() -> None:
    for path in Path(workflows.__file__).parent.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        code = [one for one in text.splitlines() if "..." not in one]  # no examples
        assert "print(" not in "\n".join(code), path.name
        assert "fdgcl.cli" not in text, path.name
