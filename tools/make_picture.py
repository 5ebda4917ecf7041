"""Draw the README's picture: `python tools/make_picture.py docs/images/cora.png`.

Left: what both orders of Cora's preset do to each frequency. Right: t-SNE of the
embedding of the bundled Cora, coloured by the labels that training never saw.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import torch
from sklearn.manifold import TSNE

from fdgcl import FDGCL, load_dataset
from fdgcl.diffusion import Grand, frequency_response
from fdgcl.operators.in_memory import build_operator

mpl.use("Agg")
from matplotlib import pyplot as plt

COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#9c6b4e")


def main(target: Path) -> None:
    graph = load_dataset("cora-bundled")
    model = FDGCL.preset("cora-bundled")
    settings = model.check()
    dynamics, operator = Grand(rate=settings.rate), build_operator(graph.adjacency)
    frequency = torch.linspace(0, operator.lambda_max, 400, dtype=torch.float64)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), dpi=110)
    names = ("local", "global")
    for order, colour, name in zip(settings.orders, COLOURS, names, strict=False):
        gain = frequency_response(dynamics, settings.schedule, order, frequency)
        left.plot(
            frequency, gain, color=colour, lw=2.5, label=f"order {order:g}: {name}"
        )
    left.set(xlabel="graph frequency", ylabel="gain", title="Two orders, two views")
    left.axhline(0, color="0.8", lw=0.8, zorder=0)
    left.legend(frameon=False)
    points = TSNE(random_state=0, init="pca").fit_transform(model.fit_transform(graph))
    assert graph.y is not None
    assert graph.class_names is not None
    for label, name in enumerate(graph.class_names):
        chosen = np.flatnonzero(graph.y == label)
        text = name.replace("_", " ").lower()
        right.scatter(*points[chosen].T, s=4, color=COLOURS[label], label=text)
    right.set(xticks=[], yticks=[], title="Cora's embedding, learned without labels")
    right.legend(
        markerscale=3,
        frameon=False,
        fontsize=8,
        loc="center left",
        bbox_to_anchor=(1, 0.5),
    )
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    right.spines[["left", "bottom"]].set_visible(False)
    figure.tight_layout()
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
