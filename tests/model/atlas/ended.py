"""A run that is ended over one of its shards."""

import pytest

from model.atlas.dataset_measure import Measure


class KilledError(Exception):
    """In the place of a kill: nothing in the atlas catches it."""


def end_at(monkeypatch: pytest.MonkeyPatch, measure: type[Measure], number: int) -> list[int]:
    """Lets a run end over the shard with this `number`, the first time that it is begun. The list holds the numbers of all
    shards that are begun.
    """
    begun: list[int] = []
    measure_shard = measure.measure_shard

    def killed(self, loaded, shard, report):
        begun.append(shard.number)
        if shard.number == number and begun.count(number) == 1:
            raise KilledError
        return measure_shard(self, loaded, shard, report)

    monkeypatch.setattr(measure, "measure_shard", killed)
    return begun
