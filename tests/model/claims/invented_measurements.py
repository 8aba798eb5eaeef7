"""Measurements that nobody made."""

from model.claims.catalogue import CLAIMS
from model.claims.verdict import FurtherThanSeeds, Measurement


def invented(pre, post, *, across=None, **fields) -> Measurement:
    seeds = fields.pop("seeds", tuple(range(3 if across else len(pre))))
    known = {"figure": "stream growth", "source": "trained", "where": "encoders", "n": 300, "of": "sentences"}
    return Measurement(**known | fields, seeds=seeds, pre=pre, post=post, across=across)


def of_every_claim() -> list[Measurement]:
    """One of three seeds and one of a single pair for each figure."""
    measurements = []
    for claim in CLAIMS:
        fields = {"figure": claim.figure, "source": claim.source or "trained"}
        if isinstance(claim.rule, FurtherThanSeeds):
            measurements.append(invented((0.1,) * 3, (0.2,) * 3, across=(0.3,) * 9, **fields))
        else:
            measurements.append(invented((1.1, 1.2, 1.3), (2.1, 2.2, 2.4), **fields))
            measurements.append(invented((1.5,), (1.6,), where="others", **fields))
        for where in ("encoders", "others") if claim.learns_in else ():
            fields["figure"] = claim.learns_in[0]
            measurements.append(invented((0.9,) * 3, (0.8,) * 3, where=where, **fields))
    return measurements
