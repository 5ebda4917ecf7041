"""What the figures of the views show, and whether it is what the paper says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev

from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Record
from fdgcl.experiments.measures.words import (
    capital,
    mean_std,
    missing,
    records_of,
    seeds,
    verdict,
)
from fdgcl.report.page import Block, Figure, Section, Series, Table, Text

STAGES = ("untrained", "trained")


def views_page(
    experiments: Sequence[Experiment],
    records: Sequence[Record],
    absent: Mapping[str, str],
) -> list[Section]:
    """One section for each of the three figures, with all their datasets."""
    sections = []
    for title, what, draw in (
        ("Is the smaller order's view a core with stragglers?", "cores", _cores),
        (
            "Is the smaller order's view spread over more dimensions?",
            "components",
            _components,
        ),
        ("Do classes move apart in training?", "separation", _separation),
    ):
        blocks: list[Block] = []
        for experiment in experiments:
            found = records_of(experiment, records)
            if any(record["what"] == what for record in found):
                blocks += draw(experiment, found)
        if blocks:
            sections.append(Section(title, blocks))
    left = missing(experiments, records, absent)
    return [*sections, Section("Not here", left)] if left else sections


def _cores(experiment: Experiment, records: Sequence[Record]) -> list[Block]:
    cores = [record for record in records if record["what"] == "cores"]
    maps = [record for record in records if record["what"] == "map"]
    classes = list(dict.fromkeys(record["class"] for record in cores))
    small, large = cores[0]["orders"]
    kinds = {
        stage: [record for record in cores if record["stage"] == stage]
        for stage in STAGES
    } | {"on the map": maps}
    told = []
    for name, found in kinds.items():
        right = sum(
            fmean(_ratios(found, code, 0)) > fmean(_ratios(found, code, 1))
            for code in classes
        )
        told.append(f"{name} in {right} of {len(classes)} classes")
        told[-1] += f" ({verdict(2 * right > len(classes))} for most)"
    claim = Text(
        f"{capital(experiment.dataset)}: the paper says that the view of order "
        f"{small:g} is a concentrated core with stragglers and that of order {large:g} "
        "evenly spaced. The 90 % quantile of the distances from the class mean, over "
        f"their median, is then larger for order {small:g}. So it is {'; '.join(told)}."
    )
    rows = [
        (
            f"class {code}",
            *(
                mean_std(_ratios(found, code, view))
                for found in kinds.values()
                for view in (0, 1)
            ),
        )
        for code in classes
    ]
    columns = [f"order {order:g}, {name}" for name in kinds for order in (small, large)]
    caption = (
        "90 % quantile over median of the distances from the class mean, in the views "
        f"before and after training and on the t-SNE map; {seeds(records)}."
    )
    first = min(int(record["seed"]) for record in maps)
    drawn = [_map(experiment, r) for r in maps if int(r["seed"]) == first]
    note = [Text(experiment.note)] if experiment.note else []
    return [claim, Table(("", *columns), rows, caption), *note, *drawn]


def _ratios(records: Sequence[Record], code: int, view: int) -> list[float]:
    return [r["ratios"][view] for r in records if r["class"] == code]


def _map(experiment: Experiment, record: Record) -> Figure:
    code = record["class"]
    return Figure(
        name=f"views-{experiment.dataset}-map-class-{code}",
        title=f"{capital(experiment.dataset)}: class {code} under both orders",
        series=[
            Series(
                f"order {order:g}",
                [point[0] for point in points],
                [point[1] for point in points],
                mark="points",
                hover=[f"node {node}" for node in record["nodes"]],
            )
            for order, points in zip(record["orders"], record["points"], strict=True)
        ],
        caption=(
            f"t-SNE of the {len(record['nodes'])} nodes of one class, both views on "
            "one map after their class means were moved to one place; scikit-learn's "
            "defaults but for the perplexity of small classes, seed "
            f"{record['seed']}. t-SNE does not keep distances: the table above gives "
            "them."
        ),
        map=True,
    )


def _components(experiment: Experiment, records: Sequence[Record]) -> list[Block]:
    blocks: list[Block] = []
    for stage in STAGES:
        found = [
            record
            for record in records
            if record["what"] == "components" and record["stage"] == stage
        ]
        blocks += _components_at(experiment, stage, found)
    return blocks


def _components_at(
    experiment: Experiment, stage: str, records: Sequence[Record]
) -> list[Block]:
    orders = sorted({record["order"] for record in records})
    by_order = [[r for r in records if r["order"] == order] for order in orders]
    effective = [fmean(r["effective"] for r in group) for group in by_order]
    shares = [_shares(group) for group in by_order]
    first = [means[0] for means, _ in shares]
    holds = effective[0] > effective[-1] and first[0] < first[-1]
    told = [
        f"order {order:g}: {count:.1f} components share the variance, the first has "
        f"{share:.1f} % of it"
        for order, count, share in zip(orders, effective, first, strict=True)
    ]
    claim = Text(
        f"{capital(experiment.dataset)}, {stage}: {'; '.join(told)}. That the smaller "
        f"order is the more spread out {verdict(holds)} here."
    )
    figure = Figure(
        name=f"views-{experiment.dataset}-components-{stage}",
        title=f"{capital(experiment.dataset)}: principal components, {stage}",
        series=[
            Series(
                f"order {order:g}",
                list(range(1, len(means) + 1)),
                means,
                mark="bar",
                error=deviations if any(deviations) else None,
            )
            for order, (means, deviations) in zip(orders, shares, strict=True)
        ],
        x_label="component",
        y_label="explained variance, %",
        caption=(
            "Shares of the variance that the first principal components of each view "
            f"explain, {stage}, activation included; mean and deviation over "
            f"{seeds(records)}."
        ),
    )
    return [claim, figure]


def _shares(records: Sequence[Record]) -> tuple[list[float], list[float]]:
    columns = list(zip(*(r["shares"] for r in records), strict=False))
    if not columns:  # a view that does not vary has no components
        return [0.0], [0.0]
    return (
        [100 * fmean(column) for column in columns],
        [100 * pstdev(column) for column in columns],
    )


def _separation(experiment: Experiment, records: Sequence[Record]) -> list[Block]:
    records = [record for record in records if record["what"] == "separation"]
    epochs = sorted({int(record["epoch"]) for record in records})
    at = [[r["ratios"] for r in records if r["epoch"] == epoch] for epoch in epochs]
    curves = [
        [fmean(ratios[code] for ratios in group) for group in at]
        for code in range(len(at[0][0]))
    ]
    rising = [code for code, curve in enumerate(curves) if curve[-1] > curve[0]]
    steady = [
        code for code, curve in enumerate(curves) if curve[-1] > 0.95 * max(curve)
    ]
    claim = Text(
        f"{capital(experiment.dataset)}: from the features to the trained embedding "
        f"the ratio rises in {len(rising)} of {len(curves)} classes, from "
        f"{fmean(curve[0] for curve in curves):.3f} to "
        f"{fmean(curve[-1] for curve in curves):.3f} on average; {len(steady)} "
        "classes end within 5 % of their best. That training clusters classes better "
        f"than the input {verdict(len(rising) == len(curves))} for all of them."
    )
    figure = Figure(
        name=f"views-{experiment.dataset}-separation",
        title=f"{capital(experiment.dataset)}: distance to other classes over "
        "distance within",
        series=[
            Series(f"class {code}", epochs, curve) for code, curve in enumerate(curves)
        ],
        x_label="epoch",
        y_label="d_inter / d_intra",
        caption=(
            "Mean Euclidean distance over all pairs of a node of the class and one of "
            "another, over that of all pairs within the class; of the embedding, and "
            f"at epoch 0 of the input features. Mean over {seeds(records)}."
        ),
    )
    return [claim, figure]
