from model.claims.verdict import read_measurements, write_measurements
from model.train.claims import __main__ as command
from tests.model.claims.invented_measurements import invented

FRESH = invented((1.0,), (2.0,), source="fresh")
TRAINED, OLD = invented((1.0,), (2.0,)), invented((9.0,), (9.0,))


def test_fresh_encoders_are_measured_once_and_trained_ones_each_time(tmp_path, monkeypatch):
    measured = []

    def untrained():
        measured.append("fresh")
        return [FRESH]

    monkeypatch.setattr(command, "measure_untrained", untrained)
    monkeypatch.setattr(command, "measure_trained", lambda _: [TRAINED])
    monkeypatch.setattr(command, "measure_stored_runs", list)
    out = tmp_path / "claims.json"
    write_measurements(out, [OLD])
    command.measure(tmp_path, out)
    assert read_measurements(out) == [FRESH, TRAINED]
    command.measure(tmp_path, out)
    assert measured == ["fresh"]
    command.measure(tmp_path, out, again=True)
    assert measured == ["fresh"] * 2
    assert read_measurements(out) == [FRESH, TRAINED]
