"""Write what results/scale/ says: `python tools/render_scale.py [--write | --rates]`.

Prints the section of docs/scale.md that is made from the records; with --write it is
put there, between the two comments that mark its place. With --rates it prints the
rates that fdgcl/planning/cost.py should have.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

from as_markdown import to_markdown
from scale.calibration import fit_rates
from scale.page import measurement_of, out_of_core_page, read_records

ROOT = Path(__file__).parents[1]
BEGIN = "<!-- scale -->"
END = "<!-- /scale -->"


def main() -> None:
    """Print the section, or put it into the page."""
    folder = ROOT / "results" / "scale"
    if "--rates" in sys.argv[1:]:
        sys.stdout.write(rates(folder))
        return
    text = render(folder)
    if "--write" not in sys.argv[1:]:
        sys.stdout.write(text)
        return
    page = ROOT / "docs" / "scale.md"
    whole = page.read_text(encoding="utf-8")
    before, _, after = split(whole)
    page.write_text(f"{before}{BEGIN}\n{text}{END}{after}", encoding="utf-8")


def render(folder: Path) -> str:
    """Return the section, below a heading that the page has."""
    text = to_markdown(out_of_core_page(read_records(folder)), level=2)
    return text.partition("\n\n")[2]


def rates(folder: Path) -> str:
    """Return the fitted rates as they are written in Python, to three digits."""
    found = fit_rates(measurement_of(record) for record in read_records(folder))
    lines = [f"    {name}={value:.3g},\n" for name, value in asdict(found).items()]
    return f"RATES = Rates(\n{''.join(lines)})\n"


def split(page: str) -> tuple[str, str, str]:
    """What stands before, between and after the two comments."""
    before, begin, rest = page.partition(BEGIN)
    inside, end, after = rest.partition(END)
    if not begin or not end:
        message = f"docs/scale.md has no place for it: it needs {BEGIN} and {END}"
        raise SystemExit(message)
    return before, inside.removeprefix("\n"), after


if __name__ == "__main__":
    main()
