"""The page in a real browser: every part used with real files, looked at in two widths and themes.

Wants what the tests of the report's page want:

    npm install --prefix build/browser playwright-core axe-core

With PICTURES=FOLDER it also leaves a picture of every part, before and after use.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audit_case import findings_in
from live_service import Service, clip, running

from sottovoce.corpus.demo.builtin import builtin_corpus
from sottovoce.corpus.manifest import read_manifest
from sottovoce.report.audit import render

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("drive_page.cjs")
STATIC = ROOT / "src" / "sottovoce" / "serve" / "static"
MODULES = Path(os.environ.get("NODE_PATH", ROOT / "build" / "browser" / "node_modules"))
TOKEN = "open-sesame"


def browser() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None or shutil.which("node") is None:
        pytest.skip("needs Chromium and node: apt-get install chromium nodejs npm")
    if not all((MODULES / one).is_dir() for one in ("playwright-core", "axe-core")):
        pytest.skip("needs npm install --prefix build/browser playwright-core axe-core")
    return found


def spoken(folder: Path) -> tuple[Path, str]:
    """A recording with its text, or without where words cannot be aligned."""
    try:
        import pocketsphinx  # noqa: F401
    except ImportError:
        path = folder / "clip.wav"
        path.write_bytes(clip(seconds=3))
        return path, ""
    one = read_manifest(builtin_corpus(folder, speakers=2, utterances=2)).utterances[0]
    return Path(one.path), one.transcript


def score_files(folder: Path) -> list[Path]:
    """The same scores in every format."""
    import polars as pl

    rng = np.random.default_rng(0)
    mated, nonmated = rng.normal(1, 1, 100), rng.normal(0, 1, 300)
    table = pl.DataFrame(
        {"score": np.concatenate([mated, nonmated]), "label": [1] * 100 + [0] * 300}
    )
    np.savez(folder / "scores.npz", mated=mated, nonmated=nonmated)
    table.write_csv(folder / "scores.csv")
    table.write_csv(folder / "scores.tsv", separator="\t")
    table.write_parquet(folder / "scores.parquet")
    return [folder / f"scores.{ending}" for ending in ("npz", "csv", "tsv", "parquet")]


def kaldi_files(folder: Path) -> dict[str, str]:
    rng = np.random.default_rng(2)
    pairs = [(f"spk{i}", f"spk{j}-{k}", i == j) for i in range(8) for j in range(8) for k in "abc"]
    lines = {
        "scores": [f"{a} {b} {rng.normal(2 * mated, 1):.4f}" for a, b, mated in pairs],
        "trials": [f"{a} {b} {'target' if mated else 'nontarget'}" for a, b, mated in pairs],
        "utt2spk": [f"spk{j}-{k} spk{j}" for j in range(8) for k in "abc"],
    }
    for name, one in lines.items():
        (folder / name).write_text("\n".join(one) + "\n", encoding="utf-8")
    return {name: str(folder / name) for name in lines}


def embedding_files(folder: Path) -> tuple[Path, Path]:
    rng = np.random.default_rng(1)
    voices = np.repeat(rng.normal(size=(12, 16)), 6, axis=0)
    speakers = np.repeat([f"speaker-{i}" for i in range(12)], 6)
    ids = [f"utterance-{i}" for i in range(72)]
    paths = folder / "original.npz", folder / "anonymised.npz"
    for path, kept in zip(paths, (1.0, 0.5), strict=True):
        vectors = kept * voices + 0.7 * rng.normal(size=voices.shape)
        np.savez(path, vectors=vectors, speakers=speakers, utterances=ids)
    return paths


def audit_folder(folder: Path) -> Path:
    audit = folder / "audits" / "first"
    audit.mkdir(parents=True)
    findings = findings_in(audit, synthetic=True)
    (audit / "measures.json").write_text(json.dumps(findings), encoding="utf-8")
    (audit / "report.html").write_text(render(findings, audit), encoding="utf-8")
    return folder / "audits"


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """One that shows audits, and the same with a token."""
    browser()
    audits = audit_folder(tmp_path_factory.mktemp("shown"))
    with running(audits=audits) as one, running(audits=audits, workers=1, token=TOKEN) as other:
        yield {"address": one.url, "guarded": other.url, "token": TOKEN}


@pytest.fixture(scope="module")
def seen(
    service: Service, services: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """All that was met, in one run of the browser."""
    chromium = browser()
    folder = tmp_path_factory.mktemp("page")
    sound, transcript = spoken(folder)
    original, anonymised = embedding_files(folder)
    given = {
        **services,
        "bare": service.url,
        "clip": str(sound),
        "transcript": transcript,
        "scores": [str(one) for one in score_files(folder)],
        "kaldi": kaldi_files(folder),
        "original": str(original),
        "anonymised": str(anonymised),
    }
    (folder / "given.json").write_text(json.dumps(given), encoding="utf-8")
    words = [chromium, str(folder / "given.json"), os.environ.get("PICTURES", "")]
    done = subprocess.run(
        ["node", str(SCRIPT), *words],
        env={**os.environ, "NODE_PATH": str(MODULES)},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_nothing_is_asked_of_other_places_and_nothing_goes_wrong(seen: dict[str, Any]) -> None:
    for one in (seen, seen["keyboard"], seen["guarded"], seen["bare"]):
        assert one["met"] == {"foreign": [], "console": []}


@pytest.mark.parametrize(("when", "count"), [("before", 10), ("after", 20)])
def test_every_part_fits_and_is_accessible_in_every_look(
    seen: dict[str, Any], when: str, count: int
) -> None:
    looks = seen[when]
    assert len(looks) == count
    wrong = {name: one for name, one in looks.items() if one["violations"] or one["overflow"] > 0}
    assert wrong == {}


@pytest.mark.parametrize("view", ["voice", "text", "recording", "measures", "audits"])
def test_every_control_is_reached_and_explained_without_a_mouse(
    seen: dict[str, Any], view: str
) -> None:
    met = seen["keys"][view]
    assert met["count"] >= (2 if view == "audits" else 6)
    assert {what: met[what] for what in ("missed", "unnamed", "unexplained", "unseen")} == {
        "missed": [],
        "unnamed": [],
        "unexplained": [],
        "unseen": [],
    }


def test_a_voice_is_changed_with_keys_alone(seen: dict[str, Any]) -> None:
    found = seen["keyboard"]
    assert found["method"] == "voicemask"
    assert found["said"].startswith("Done with voicemask in")
    assert found["moved"].replace("\xa0", " ") == "0.5 s of 4.0 s"
    assert found["end"][0] == found["end"][1]


def test_a_dropped_clip_is_heard_and_seen(seen: dict[str, Any]) -> None:
    voice = seen["voice"]
    assert voice["noClip"] == "Choose, drop or record a clip first"
    assert voice["focus"] == "voice-file"
    assert re.search(r"\.wav, \d\.\d\ss$", voice["clip"])
    wave, tones = voice["before"]
    new_wave, new_tones = voice["after"]
    assert min(wave["colours"], new_wave["colours"]) >= 2
    assert min(tones["colours"], new_tones["colours"]) > 20
    assert {one["width"] for one in (wave, tones, new_wave, new_tones)} == {wave["width"]}
    assert (voice["playing"], voice["paused"]) == ("Pause, before", "Play, before")
    assert voice["saved"]["head"] == "RIFF" and voice["saved"]["bytes"] > 50_000
    assert voice["saved"]["name"].endswith("-mcadams.wav")


def test_every_method_has_its_settings(seen: dict[str, Any]) -> None:
    voice = seen["voice"]
    assert set(voice["methods"]) == {"dar", "mcadams", "voicemask", "vtln", "xvector"}
    assert all(one["settings"] and one["explained"] for one in voice["methods"].values())
    assert voice["methods"]["voicemask"]["said"].startswith("Done with voicemask in")
    assert voice["asked"] == "?method=mcadams&coefficient=0.75&seed=7"
    assert voice["refused"] is True
    assert "still leaks" in voice["told"]


def test_a_clip_is_recorded_and_work_is_cancelled(seen: dict[str, Any]) -> None:
    recorded = seen["recorded"]
    length = float(re.findall(r"[\d.]+", recorded["name"])[-1])
    assert 1.0 < length < 6.0
    assert recorded["said"].startswith("Done with mcadams in")
    assert recorded["before"][1]["colours"] > 20
    assert recorded["listening"] == ["ended"]
    assert seen["cancelHidden"] is True
    assert seen["overtaken"] == {"said": "Cancelled.", "shown": False}


def test_private_words_are_marked_and_replaced_by_every_strategy(seen: dict[str, Any]) -> None:
    text = seen["text"]
    assert text["empty"] == "Type or paste a text first"
    assert text["marks"] == ["Ann Leeperson", "Berlinplace", "ann@example.orge-mail"]
    assert text["rows"][2][:3] == ["ann@example.org", "e-mail", "pattern email"]
    assert len(text["strategies"]) == 8
    for name, new in text["strategies"].items():
        assert "🙂 and my mail is" in new, name
        assert "Ann" not in new and "ann@" not in new, name
    assert text["replaced"] == ["[PER]", "[LOC]", "[EMAIL]"]
    assert text["copied"] == text["strategies"]["typed"]


def test_eight_languages_have_their_words_found_and_their_leak_bound(seen: dict[str, Any]) -> None:
    languages = seen["text"]["languages"]
    assert set(languages) == {"en", "de", "es", "fr", "it", "lv", "nl", "pt"}
    for name, one in languages.items():
        assert one["said"][0].isdigit() and len(one["marks"]) >= 3, name
        assert re.match(r"At most [\d.]+ % of private words stay", one["leak"]), name


def test_a_recording_is_masked_where_its_private_words_are(seen: dict[str, Any]) -> None:
    pytest.importorskip("pocketsphinx")
    found = seen["recording"]
    assert found["noText"] == "Type what is said in the clip"
    assert re.match(r"\d+ words? masked in", found["said"])
    assert len(found["stretches"]) == found["masked"] >= 1
    for left, width, kind in found["stretches"]:
        assert left >= 0 and width > 1 and left + width <= 100.5 and kind
    assert found["text"].count("<") == found["masked"]
    assert found["drawn"][1]["colours"] > 20
    assert found["saved"]["head"] == "RIFF" and found["saved"]["name"].endswith("-masked.wav")
    assert "The voice is the speaker's own." in found["told"]
    assert found["withheld"].startswith("Withheld: ")
    assert found["stale"] is False


def test_scores_of_every_format_are_measured(seen: dict[str, Any]) -> None:
    measures = seen["measures"]
    assert measures["noFile"] == "Choose or drop a file: Scores"
    assert set(measures["scores"]) == {"npz", "csv", "tsv", "parquet"}
    tables = {one["rows"] for one in measures["scores"].values()}
    assert len(tables) == 1
    assert re.search(r"EER\s+29\.00 %", tables.pop())
    for one in measures["scores"].values():
        assert one["said"].startswith("Measured in")
        assert len(one["figures"]) == 3
        assert one["verdict"].startswith("These scores tell who is who.")
    assert measures["noTrials"] == "Choose or drop a file: Trials of Kaldi"
    assert measures["kaldi"]["said"].startswith("Measured in")
    assert "resamples of 8 speakers" in measures["kaldi"]["text"]
    assert measures["wrong"].startswith("The scores: ")
    assert measures["stale"] is False


def test_embeddings_are_compared_and_people_looked_for(seen: dict[str, Any]) -> None:
    similarity, reidentify = seen["measures"]["similarity"], seen["measures"]["reidentify"]
    assert similarity["verdict"].startswith("Voices are still like themselves.")
    assert reidentify["verdict"].startswith("People are found again.")
    assert "DeID" in similarity["rows"] and len(similarity["figures"]) == 1
    assert len(reidentify["figures"]) == 4
    assert any("Linkability" in one for one in reidentify["figures"])


def test_audits_are_opened(seen: dict[str, Any]) -> None:
    for one in (seen["audits"], seen["guarded"]):
        assert one["state"] == "1 audit, the newest first."
        assert "first" in one["list"] and "synthetic speech" in one["list"]
        assert one["report"]["title"] and one["report"]["figures"] > 3
        assert one["report"]["styled"] == "0px"


def test_a_token_is_asked_for_until_it_is_right(seen: dict[str, Any]) -> None:
    assert (seen["guarded"]["closed"], seen["guarded"]["asked"]) == (True, False)


def test_without_audits_the_page_says_how_to_have_them(seen: dict[str, Any]) -> None:
    assert "sottovoce serve --audits" in seen["bare"]["list"]
    assert "report" not in seen["bare"]


def test_the_page_has_no_script_or_style_of_its_own() -> None:
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script>|<style|\son\w+=|style=|https?://", page)


def test_the_example_says_what_the_page_says_it_does() -> None:
    """The clip that ships is one of the built-in corpus, and its words are those in the page."""
    words = re.search(r'EXAMPLE = "(.*)"', (STATIC / "clip.js").read_text(encoding="utf-8"))
    assert words is not None
    assert words[1] == "My name is Thomas Fischer, and I live in Rome, on Miller Street."
    assert (STATIC / "example.flac").read_bytes()[:4] == b"fLaC"
