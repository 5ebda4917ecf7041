"""The page of the defaults: every graph, the sums at the bottom, what it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median

from fdgcl._checks import in_words
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.accuracy_cells import NO_RESULT
from fdgcl.experiments.measures.accuracy_notes import absences
from fdgcl.experiments.measures.base import Record
from fdgcl.experiments.measures.defaults_sums import (
    Results,
    Standing,
    chosen_elsewhere,
    standing,
)
from fdgcl.experiments.measures.scores import Scores
from fdgcl.experiments.measures.words import missing, records_of, seeds
from fdgcl.report.numerals import plural
from fdgcl.report.page import Block, Figure, Section, Series, Table, Text

FREE_NAMES = {
    "features": "X",
    "smoothed-once": "AX",
    "smoothed": "A²X",
    "out": "out X",
    "in": "in X",
}
ROWS = (
    "A = D^-1/2 (A + I) D^-1/2 of the undirected graph, X the features as they came; "
    "out X and in X are the means of X over the nodes that a node points to and that "
    "point to it, where edges are directed"
)


def defaults_page(
    experiments: Sequence[Experiment],
    records: Sequence[Record],
    absent: Mapping[str, str],
) -> list[Section]:
    """Scores by dataset, sums, choices by the other datasets, seconds, notes.

    Args:
        experiments: Those of the table, in reading order.
        records: Their lines.
        absent: Why a dataset is not here, by its name.
    """
    page = _Page(experiments, records, absent)
    blocks: list[Block] = [page.scores(), *page.remarks()]
    if page.variants and page.results.complete:
        blocks.append(page.figure())
    sections = [Section("Scores", blocks)]
    if page.variants:
        title = "Against the best row without training"
        sections.append(Section(title, [page.sums()]))
    sections += page.choices()
    if page.datasets:
        sections.append(Section("Splits, time and memory", [page.costs()]))
    notes = {one.label: one.note for one in page.asked if one.note}
    if notes:
        texts = [Text(f"{label}: {note}") for label, note in notes.items()]
        sections.append(Section("Notes", texts))
    return sections


class _Page:
    """What was measured, and the blocks that show it."""

    def __init__(
        self,
        experiments: Sequence[Experiment],
        records: Sequence[Record],
        absent: Mapping[str, str],
    ) -> None:
        measured = {str(record["experiment"]) for record in records}
        variants = {one.variant for one in experiments if one.name in measured}
        # A variant of which nothing is measured was not asked for when that was done.
        here = [one for one in experiments if one.dataset not in absent]
        self.asked = [one for one in here if one.variant in variants]
        self.records, self.absent = records, absent
        self.results = Results.of(self.asked, records, FREE_NAMES)
        parts = {part for one in self.asked for part in one.options["parts"]}
        self.rows = [part for part in FREE_NAMES if part in parts]
        self.datasets = list(dict.fromkeys(one.dataset for one in self.asked))
        self.variants = {
            one.variant: one.label
            for one in self.asked
            if not set(one.options["parts"]) <= set(FREE_NAMES)
        }
        self.with_twins = {
            one.variant for one in self.asked if "untrained" in one.options["parts"]
        }
        self.left_out = list(
            dict.fromkeys(n for one in self.asked for n in one.options["without"])
        )
        scored = [record for record in records if "test" in record]
        self.measure = {str(r["dataset"]): str(r["measure"]) for r in scored}

    def scores(self) -> Table:
        """A line a dataset: the rows without training, then the variants."""
        columns = ["dataset", *(FREE_NAMES[row] for row in self.rows)]
        for variant, label in self.variants.items():
            twin = [f"{label}, untrained"] if variant in self.with_twins else []
            columns += [label, *twin]
        cells, strong = [], set()
        for line, dataset in enumerate(self.datasets):
            found = self._line(dataset)
            means = [one.mean for one in found if isinstance(one, Scores)]
            strong |= {
                (line, 1 + place)
                for place, one in enumerate(found)
                if isinstance(one, Scores) and one.mean == max(means)
            }
            shown = (f"{o.mean:.2f}" if isinstance(o, Scores) else o for o in found)
            cells.append([self._name(dataset), *shown])
        count = max((one.options["splits"] for one in self.asked), default=0)
        over = f"the first {plural(count, 'split')}" if count else "all splits"
        over = over.replace("first 1 split", "first split")
        caption = (
            f"Test score of the linear probe in %, mean over {over} and, where "
            f"something is random, {seeds(self.records) if self.records else 'seeds'}; "
            f"the best of a line stressed. {ROWS}. Untrained: the same estimator with "
            "0 epochs."
        )
        return Table(columns, cells, caption, frozenset(strong))

    def _line(self, dataset: str) -> list[Scores | str]:
        known = {(r["dataset"], r["part"]) for r in self.records if "left_out" in r}
        found: list[Scores | str] = []
        for row in self.rows:
            blank = "-" if (dataset, row) in known else NO_RESULT
            found.append(self.results.free.get((dataset, row), blank))
        for variant in self.variants:
            cell = dataset, variant
            found.append(self.results.trained.get(cell, NO_RESULT))
            if variant in self.with_twins:
                found.append(self.results.untrained.get(cell, NO_RESULT))
        return found

    def _name(self, dataset: str) -> str:
        measure = self.measure.get(dataset, "accuracy")
        return dataset if measure == "accuracy" else f"{dataset} ({measure})"

    def remarks(self) -> list[Text]:
        """What is scored otherwise, not measured, and left out."""
        ranked = [name for name in self.datasets if self.measure.get(name) == "ROC-AUC"]
        texts = []
        if ranked:
            texts.append(
                Text(
                    f"One of the two classes of {in_words(ranked)} is rare: the probe "
                    "chooses and is scored by ROC-AUC there, by accuracy elsewhere."
                )
            )
        return [
            *texts,
            *missing(self.asked, self.records, {}),
            *absences(self.absent, "Left out"),
        ]

    def figure(self) -> Figure:
        """The distances of all variants on all datasets."""
        series = []
        for variant, label in self.variants.items():
            known = {
                self._name(dataset): distance
                for dataset in self.datasets
                if (distance := self.results.distance(dataset, variant)) is not None
            }
            series.append(Series(label, list(known), list(known.values()), mark="bar"))
        return Figure(
            name="defaults-distance",
            title="Distance to the best row without training",
            series=[one for one in series if one.x],
            y_label="points",
            caption=(
                "Above zero a trained embedding is ahead of everything that needs no "
                "training."
            ),
        )

    def sums(self) -> Table:
        """A line a variant over all datasets, and one without those to leave out."""
        rows = []
        some = [name for name in self.datasets if name not in self.left_out]
        gone = [name for name in self.datasets if name in self.left_out]
        for variant, label in self.variants.items():
            found = standing(self.results, variant, self.datasets)
            rows.append([label, *_cells(found)])
            if gone:
                found = standing(self.results, variant, some)
                rows.append([f"{label}, without {in_words(gone)}", *_cells(found)])
        columns = ["variant", "datasets", "mean distance", "worst", "above it on"]
        caption = (
            "Points between a variant and the best of "
            f"{in_words([FREE_NAMES[row] for row in self.rows])} on each dataset, by "
            "test scores of both: which row is best is not known beforehand. Datasets "
            "count where all of them are measured."
        )
        return Table([*columns, "trained - untrained"], rows, caption)

    def choices(self) -> list[Section]:
        """Of each method with several candidates, what other datasets choose."""
        methods: dict[str, list[str]] = {}
        for one in self.asked:
            variants = methods.setdefault(one.method, [])
            if one.options["candidate"] and one.variant not in variants:
                variants.append(one.variant)
        several = {name: found for name, found in methods.items() if len(found) > 1}
        return [
            section
            for method, variants in several.items()
            for section in self._chosen(method, variants, named=len(several) > 1)
        ]

    def _chosen(
        self, method: str, variants: list[str], *, named: bool
    ) -> list[Section]:
        chosen = chosen_elsewhere(self.results, variants, self.datasets)
        if not chosen:
            return []
        rows, distances = [], []
        for dataset, variant in chosen.items():
            distance = self.results.distance(dataset, variant)
            assert distance is not None
            distances.append(distance)
            test = self.results.trained[dataset, variant].mean
            name, label = self._name(dataset), self.variants[variant]
            rows.append([name, label, f"{test:.2f}", f"{distance:+.2f}"])
        above = sum(distance > 0 for distance in distances)
        words = f"above on {above} of {len(rows)}"
        rows.append(["mean", words, "", f"{fmean(distances):+.2f}"])
        alone = []
        for variant in variants:
            fixed = standing(self.results, variant, chosen)
            assert fixed is not None
            alone.append(f"{self.variants[variant]} {fixed.mean:+.2f}")
        caption = (
            "Of each dataset the variant whose validation scores are best on all other "
            "datasets (mean distance to the best row without training). One variant "
            f"for all of them: {', '.join(alone)}."
        )
        table = Table(["dataset", "chosen", "test", "distance"], rows, caption)
        title = "Chosen without this dataset"
        return [Section(f"{title}, {method}" if named else title, [table])]

    def costs(self) -> Table:
        """Splits, and median seconds and highest memory of a fit."""
        rows = []
        for dataset in self.datasets:
            scored = [
                r for r in self.records if r["dataset"] == dataset and "test" in r
            ]
            names = dict.fromkeys(str(record["splits"]) for record in scored)
            count = len({record["split"] for record in scored})
            splits = f"{', '.join(names)}: {count}" if names else ""
            cells = [self._cost(dataset, variant) for variant in self.variants]
            rows.append([dataset, splits, *cells])
        return Table(
            ["dataset", "splits", *self.variants.values()],
            rows,
            "Name and number of the splits; seconds of training and embedding, median "
            "over seeds; highest memory of a seed, with its probe.",
        )

    def _cost(self, dataset: str, variant: str) -> str:
        found = self.results.trained.get((dataset, variant))
        if found is None:
            return ""
        fits = {
            record["seed"]: float(record["train_seconds"])
            for one in self.asked
            if (one.dataset, one.variant) == (dataset, variant)
            for record in records_of(one, self.records)
            if record["part"] == "trained"
        }
        memory = found.gpu_memory_mib or found.memory_mib
        return f"{median(fits.values()):.2f} s, {memory:,.0f} MiB"


def _cells(found: Standing | None) -> list[str]:
    if found is None:
        return ["0", "", "", "", ""]
    return [
        str(found.datasets),
        f"{found.mean:+.2f}",
        f"{found.worst:+.2f} ({found.worst_of})",
        f"{found.above} of {found.datasets}",
        "" if found.gain is None else f"{found.gain:+.2f}",
    ]
