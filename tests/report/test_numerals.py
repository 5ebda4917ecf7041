"""Numbers as tables have them."""

from __future__ import annotations

import pytest

from fdgcl.report.numerals import score


@pytest.mark.parametrize(
    ("measure", "mean", "std", "text"),
    [
        ("accuracy", 0.8376, 0.0041, "83.76 ± 0.41"),
        ("ROC-AUC", 0.5, None, "50.00"),
        ("R²", 0.81234, 0.0121, "0.812 ± 0.012"),
        ("R²", -0.05, None, "-0.050"),
        ("MAE", 1.29249, 0.0316, "1.292 ± 0.032"),
        ("MAE", 12345.6, 78.9, "12346 ± 79"),
        ("MAE", 0.00123456, 0.0001, "0.001235 ± 0.000100"),
        ("MAE", 0.0, 0.0, "0.000 ± 0.000"),
    ],
)
def test_a_measure_with_its_spread(
    measure: str, mean: float, std: float | None, text: str
) -> None:
    assert score(measure, mean, std) == text
