"""``sottovoce attack`` from recordings to records, on a few short noises that stand for voices."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small_speech import small_corpus

from sottovoce.cli import run
from sottovoce.measure import eer
from sottovoce.measure.readers import read_scores
from sottovoce.speaker.readers import read_embeddings

NEAR = ["--attacker", "near-informed"]
ROLES = ("enrol", "trial", "train")
KEYS = {
    "attacker",
    "settings",
    "enrolled_speakers",
    "trials",
    "trained",
    "trained_on_originals",
    "eer",
    "eer_on_originals",
    "trust",
    "embeddings",
    "representation",
    "draws",
    "representations",
    "techniques",
    "unavailable",
    "evidence",
    "corpora",
    "anonymiser",
    "encoder",
    "disjoint",
    "attributes",
    "notes",
}


def speak(folder: Path, speakers: int, prefix: str, each: int = 4) -> Path:
    """Write short noises through resonances of each speaker."""
    return small_corpus(folder, speakers, each, prefix, seconds=0.375).root


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Originals, the same anonymised, and other speakers to train on."""
    folder = tmp_path_factory.mktemp("attack")
    speak(folder / "o", 4, "s")
    speak(folder / "others", 4, "t", each=2)
    words = ["anonymise", "voice", str(folder / "o"), str(folder / "a"), "--reproducible", "0"]
    assert run([*words, "--set", "coefficient=0.8", "--json", str(folder / "log.json")]) == 0
    return folder


def words(place: Path, out: str, *more: str) -> list[str]:
    named = ["--original", str(place / "o"), "--anonymised", str(place / "a")]
    return ["attack", *named, "--out", str(place / out), *more]


def files(folder: Path) -> dict[str, tuple[int, int]]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {
        str(one.relative_to(folder)): (one.stat().st_mtime_ns, one.stat().st_ino) for one in found
    }


def test_from_recordings_to_records(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("ignorant", "lazy-informed", "near-informed", "semi-informed", "informed")
    more = [word for name in names for word in ("--attacker", name)]
    more += [
        "--train",
        str(place / "others"),
        "--similar",
        "mcadams,coefficient=0.9",
        "--linkage",
        "cosine",
    ]
    assert run(words(place, "out", *more, "--json")) == 0
    attacks = json.loads(capsys.readouterr().out)["attacks"]
    assert [one["attacker"]["name"] for one in attacks] == list(names)
    for one in attacks:
        folder = place / "out" / one["attacker"]["name"]
        check_folder(folder, one)
        assert one["notes"] == [] and one["anonymiser"].startswith("mcadams(coefficient=0.8")
        assert one["corpora"] == {
            "enrolment": {"name": "o", "speakers": 4, "utterances": 8},
            "trials": {"name": "o", "speakers": 4, "utterances": 8},
            "training": {"name": "others", "speakers": 4, "utterances": 8},
        }
    # nothing is drawn with a fixed coefficient: whose draws they are makes no difference
    assert attacks[3]["eer"] == attacks[4]["eer"]
    assert len({one["eer_on_originals"] for one in attacks}) == 1


def check_folder(folder: Path, record: dict[str, Any]) -> None:
    assert set(record) == KEYS and record["disjoint"] is True
    assert sorted(path.name for path in folder.iterdir()) == ["attack.json", "scores.parquet"]
    assert json.loads((folder / "attack.json").read_text(encoding="utf-8")) == record
    assert eer(read_scores(folder / "scores.parquet")) == pytest.approx(record["eer"])
    originals = eer(read_scores(folder.parent / "originals" / "scores.parquet"))
    assert originals == pytest.approx(record["eer_on_originals"])
    store = folder.parent / "embeddings"
    enrol, trial = (
        read_embeddings(store / f"{record['embeddings'][role]}.npz") for role in ("enrol", "trial")
    )
    assert len(trial) == record["trials"] and len(enrol.names) == record["enrolled_speakers"]
    assert enrol.utterances is not None and trial.utterances is not None
    assert not set(enrol.utterances) & set(trial.utterances)


def test_half_are_trained_on_and_a_second_run_goes_on(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--linkage", "cosine"]
    assert run(words(place, "half", *more)) == 0
    first = capsys.readouterr().out
    assert "semi-informed" in first and "on originals" in first
    assert "2 of 4 speakers were trained on and are not attacked" in " ".join(first.split())
    folder = place / "half" / "semi-informed"
    assert f"Next: sottovoce measure {folder / 'scores.parquet'}\n" in first
    assert first.endswith(f"sottovoce reidentify --attack {folder}\n")
    kept = ("work", "speech", "embeddings")
    before = [files(place / "half" / name) for name in kept]
    scores = (place / "half" / "semi-informed" / "scores.parquet").read_bytes()
    assert run(words(place, "half", *more)) == 0
    assert capsys.readouterr().out == first
    assert [files(place / "half" / name) for name in kept] == before
    assert (place / "half" / "semi-informed" / "scores.parquet").read_bytes() == scores
    record = json.loads((place / "half" / "semi-informed" / "attack.json").read_text())
    assert len(record["notes"]) == 1 and "note" in record["attributes"]["gender"]


def test_what_comes_next_finds_what_the_attack_found(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--train", str(place / "others"), "--linkage", "plda", "--json"]
    assert run(words(place, "next", *more)) == 0
    capsys.readouterr()
    folder = place / "next" / "semi-informed"
    line = ["reidentify", "--attack", str(folder), "--lengths", "1", "--no-interval", "--json"]
    assert run(line) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["linkage"] == "plda" and not any("centre" in note for note in found["notes"])
    assert found["linkability"][-1]["value"] == pytest.approx(top_1(folder / "scores.parquet"))
    inputs = [source["name"] for source in found["provenance"]["inputs"]]
    digests = json.loads((folder / "attack.json").read_text())["embeddings"]
    assert inputs == [*(f"{digests[role]}.npz" for role in ROLES), "attack.json"]


@pytest.mark.parametrize("form", ["kaldi", "voxceleb"])
def test_only_the_pairs_of_a_list_are_compared(
    place: Path, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if form == "kaldi":  # models are speakers: all their utterances that are no trials
        pairs = [(f"s{i}", f"s{j}-3", i == j) for i in range(4) for j in range(4) if j != i + 1]
        lines = [f"{a} {b} {'target' if mated else 'nontarget'}" for a, b, mated in pairs]
    else:  # models are single utterances, which are trials of other pairs
        pairs = [
            (f"s{i}-{k}", f"s{j}-{k + 1}", i == j) for i in (0, 1) for j in (0, 1) for k in (0, 1)
        ]
        lines = [f"{int(mated)} {a}.wav {b}.wav" for a, b, mated in pairs]
    (tmp_path / "list.txt").write_text("\n".join(lines) + "\n")
    more = ["--train", str(place / "others"), "--trials", str(tmp_path / "list.txt")]
    assert run(words(place, f"list-{form}", *more, "--linkage", "cosine", "--json")) == 0
    (record,) = json.loads(capsys.readouterr().out)["attacks"]
    assert record["trial_list"]["pairs"] == len(pairs)
    assert record["trial_list"]["mated"] == sum(mated for *_, mated in pairs)
    folder = place / f"list-{form}"
    for name in ("semi-informed", "originals"):
        table = pl.read_parquet(folder / name / "scores.parquet").cast({"enrol": pl.String})
        scored = zip(table["enrol"], table["trial"], table["label"] == "mated", strict=True)
        assert sorted(scored) == sorted(pairs)
    assert eer(read_scores(folder / "semi-informed" / "scores.parquet")) == record["eer"]
    line = ["reidentify", "--attack", str(folder / "semi-informed"), "--lengths", "1"]
    code = run([*line, "--no-interval", "--json"])
    printed = capsys.readouterr()
    if form == "kaldi":
        assert code == 0 and "pairs of a list" in " ".join(json.loads(printed.out)["notes"])
    else:  # population measures would compare recordings with themselves
        assert code == 2 and "s0-1, s1-1" in printed.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s0 s0-3 target\ns1 nobody-3 nontarget\n", "nobody-3"),
        ("s0 s0-3 nontarget\n", "label"),
        ("s0-3 s0-3 target\ns0 s1-3 nontarget\n", "with itself"),
    ],
)
def test_lists_that_cannot_be_used(
    place: Path, tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list.txt").write_text(text)
    more = ["--train", str(place / "others"), "--trials", str(tmp_path / "list.txt")]
    assert run(words(place, "bad-list", *more)) == 2
    assert message in capsys.readouterr().err


def top_1(path: Path) -> float:
    """Share of trials whose own speaker scores highest, each speaker counted alike."""
    table = pl.read_parquet(path)
    best = table.group_by("trial", "trial_speaker").agg(
        (pl.col("enrol_speaker").cast(pl.String).sort_by("score").last()).alias("best")
    )
    hit = best.with_columns((pl.col("best") == pl.col("trial_speaker")).alias("hit"))
    share = hit.group_by("trial_speaker").agg(pl.col("hit").mean())["hit"].mean()
    assert isinstance(share, float)
    return share


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--attacker", "semi-inform"], "did you mean 'semi-informed'"),
        (["--linkage", "cosin"], "did you mean 'cosine'"),
        (["--set", "coefficient=0.8"], "--set needs --anonymiser"),
        (["--anonymiser", "mcadams", "--set", "coefficient"], "write it as KEY=VALUE"),
        (["--anonymiser", "mcadam"], "did you mean 'mcadams'"),
        (["--anonymiser", "mcadams", "--set", "coeficient=1"], "did you mean 'coefficient'"),
        ([*NEAR, "--similar", "voicemas"], "did you mean 'voicemask'"),
        ([*NEAR, "--similar", "mcadams,0.9"], "--similar 0.9: write it as KEY=VALUE"),
        (NEAR, "--similar"),
        (["--train", "O"], "in the evaluated and in the training speakers"),
        (["--train", "absent"], "absent"),
        (["--over", "sum"], "--over"),
        (["--encoder", "absent.onnx"], "absent.onnx"),
        (["--attacker-enrol", "absent"], "absent"),
        (["--attribute", "shoe"], "--attribute shoe: no such column in o, or an empty one"),
        (["--attribute", "shoe"], "has gender"),
        (["--attribute", "gender", "--attribute", "language"], "--attribute language: no such"),
    ],
)
def test_bad_usage_is_one_line_and_writes_no_result(
    place: Path, more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = [str(place / "o") if word == "O" else word for word in more]
    assert run(words(place, "bad", *more)) == 2
    printed = capsys.readouterr()
    assert message in printed.err and "Traceback" not in printed.err and not printed.out
    assert not (place / "bad").exists() or not list((place / "bad").rglob("*.npz"))


def test_released_speech_without_all_trials(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(place / "a", tmp_path / "a")
    rows = (tmp_path / "a" / "manifest.csv").read_text(encoding="utf-8").splitlines()
    kept = [row for row in rows if not row.startswith("s")][:1]
    kept += [row for row in rows[1:] if row.startswith("s0-")]
    (tmp_path / "a" / "manifest.csv").write_text("\n".join(kept) + "\n", encoding="utf-8")
    line = ["attack", "--original", str(place / "o"), "--anonymised", str(tmp_path / "a")]
    assert run([*line, "--out", str(tmp_path / "out"), "--train", str(place / "others")]) == 2
    assert "6 of 8 trials are not in it" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_without_a_record_the_anonymiser_must_be_named(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(place / "a", tmp_path / "a")
    os.unlink(tmp_path / "a" / "anonymisation.json")
    line = ["attack", "--original", str(place / "o"), "--anonymised", str(tmp_path / "a")]
    line += ["--out", str(tmp_path / "out"), "--linkage", "cosine"]
    line += ["--attacker", "lazy-informed"]
    assert run(line) == 2
    assert "name the anonymiser with --anonymiser" in capsys.readouterr().err
    assert run([*line, "--anonymiser", "mcadams", "--set", "coefficient=0.8", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)["attacks"][0]
    assert record["anonymiser"] == "mcadams(coefficient=0.8)"
