from fdgcl.evaluation.probe import linear_probe
