"""The page in a real browser: every part used with real files, in two widths and themes.

Needs what the tests of the report's page need:

    npm install --prefix build/browser playwright-core axe-core

With PICTURES=FOLDER it also writes a picture of every part, before and after use.
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

from sottovoce.core.records import write_json
from sottovoce.corpus.demo import builtin_corpus
from sottovoce.corpus.manifest import read_manifest
from sottovoce.report.audit import render

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("drive_page.cjs")
STATIC = ROOT / "src" / "sottovoce" / "serve" / "static"
MODULES = Path(os.environ.get("NODE_PATH", ROOT / "build" / "browser" / "node_modules"))
TOKEN = "open-sesame"
VIEWS = ("voice", "text", "recording", "measures", "audits")


def browser() -> str:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None or shutil.which("node") is None:
        pytest.skip("needs Chromium and node: apt-get install chromium nodejs npm")
    if not all((MODULES / package).is_dir() for package in ("playwright-core", "axe-core")):
        pytest.skip("needs npm install --prefix build/browser playwright-core axe-core")
    return program


def spoken(folder: Path) -> tuple[Path, str]:
    """A recording with its text, or without where words cannot be aligned."""
    try:
        import pocketsphinx  # noqa: F401
    except ImportError:
        path = folder / "clip.wav"
        path.write_bytes(clip(seconds=3))
        return path, ""
    corpus = read_manifest(builtin_corpus(folder, speakers=2, utterances=2))
    utterance = corpus.utterances[0]
    return Path(utterance.path), utterance.transcript


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
    for name, rows in lines.items():
        (folder / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
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
    write_json(audit / "measures.json", findings)
    (audit / "report.html").write_text(render(findings, audit), encoding="utf-8")
    return folder / "audits"


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A service that shows audits, and one that also needs a token."""
    browser()
    audits = audit_folder(tmp_path_factory.mktemp("shown"))
    with running(audits=audits) as plain, running(audits=audits, workers=1, token=TOKEN) as guarded:
        yield {"address": plain.url, "guarded": guarded.url, "token": TOKEN}


@pytest.fixture(scope="module")
def results(
    service: Service, services: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Everything that the drivers report, from one run of the browser."""
    chromium = browser()
    folder = tmp_path_factory.mktemp("page")
    sound, transcript = spoken(folder)
    original, anonymised = embedding_files(folder)
    inputs = {
        **services,
        "bare": service.url,
        "clip": str(sound),
        "transcript": transcript,
        "scores": [str(path) for path in score_files(folder)],
        "kaldi": kaldi_files(folder),
        "original": str(original),
        "anonymised": str(anonymised),
    }
    (folder / "inputs.json").write_text(json.dumps(inputs), encoding="utf-8")
    arguments = [chromium, str(folder / "inputs.json"), os.environ.get("PICTURES", "")]
    done = subprocess.run(
        ["node", str(SCRIPT), *arguments],
        env={**os.environ, "NODE_PATH": str(MODULES)},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads(done.stdout)
    return results


def test_no_other_host_is_asked_and_nothing_goes_wrong(results: dict[str, Any]) -> None:
    assert set(results) == {*VIEWS, "keyboard", "guarded", "bare"}
    for name, visit in results.items():
        assert visit["problems"] == {"foreign": [], "console": []}, name


@pytest.mark.parametrize(("when", "count"), [("before", 10), ("after", 20)])
def test_every_part_fits_and_is_accessible_in_every_look(
    results: dict[str, Any], when: str, count: int
) -> None:
    looks = {name: look for view in VIEWS for name, look in results[view][when].items()}
    assert len(looks) == count
    wrong = {n: look for n, look in looks.items() if look["violations"] or look["overflow"] > 0}
    assert wrong == {}


@pytest.mark.parametrize("view", VIEWS)
def test_every_control_is_reached_and_explained_without_a_mouse(
    results: dict[str, Any], view: str
) -> None:
    keys = results[view]["keys"]
    assert keys["count"] >= (2 if view == "audits" else 6)
    assert {kind: keys[kind] for kind in ("missed", "unnamed", "unexplained", "unseen")} == {
        "missed": [],
        "unnamed": [],
        "unexplained": [],
        "unseen": [],
    }


def test_a_voice_is_changed_with_keys_alone(results: dict[str, Any]) -> None:
    visit = results["keyboard"]
    assert visit["method"] == "voicemask"
    assert visit["status"].startswith("Done with voicemask in")
    assert visit["moved"].replace("\xa0", " ") == "0.5 s of 4.0 s"
    assert visit["end"][0] == visit["end"][1]


def test_a_dropped_clip_is_heard_and_seen(results: dict[str, Any]) -> None:
    voice = results["voice"]["result"]
    assert voice["noClip"] == "Choose, drop or record a clip first"
    assert voice["focus"] == "voice-file"
    assert re.search(r"\.wav, \d\.\d\ss$", voice["clip"])
    wave, tones = voice["before"]
    new_wave, new_tones = voice["after"]
    assert min(wave["colours"], new_wave["colours"]) >= 2
    assert min(tones["colours"], new_tones["colours"]) > 20
    assert {image["width"] for image in (wave, tones, new_wave, new_tones)} == {wave["width"]}
    assert (voice["playing"], voice["paused"]) == ("Pause, before", "Play, before")
    assert voice["saved"]["head"] == "RIFF" and voice["saved"]["bytes"] > 50_000
    assert voice["saved"]["name"].endswith("-mcadams.wav")


def test_every_method_has_its_settings(results: dict[str, Any]) -> None:
    voice = results["voice"]["result"]
    assert set(voice["methods"]) == {"dar", "mcadams", "voicemask", "vtln", "xvector"}
    assert all(method["settings"] and method["explained"] for method in voice["methods"].values())
    assert voice["methods"]["voicemask"]["status"].startswith("Done with voicemask in")
    assert voice["asked"] == "?method=mcadams&coefficient=0.75&seed=7"
    assert voice["refused"] is True
    assert "still leaks" in voice["notes"]


def test_a_clip_is_recorded_and_work_is_cancelled(results: dict[str, Any]) -> None:
    voice = results["voice"]["result"]
    recorded = voice["recorded"]
    length = float(re.findall(r"[\d.]+", recorded["name"])[-1])
    assert 1.0 < length < 6.0
    assert recorded["status"].startswith("Done with mcadams in")
    assert recorded["before"][1]["colours"] > 20
    assert recorded["listening"] == ["ended"]
    assert voice["cancelHidden"] is True
    assert voice["overtaken"] == {"status": "Cancelled.", "shown": False}


def test_private_words_are_marked_and_replaced_by_every_strategy(results: dict[str, Any]) -> None:
    text = results["text"]["result"]
    assert text["empty"] == "Type or paste a text first"
    assert text["marks"] == ["Ann Leeperson", "Berlinplace", "ann@example.orge-mail"]
    assert text["rows"][2][:3] == ["ann@example.org", "e-mail", "pattern email"]
    assert len(text["strategies"]) == 8
    for name, new in text["strategies"].items():
        assert "🙂 and my mail is" in new, name
        # parts of a name may be drawn again, or as parts of others, such as Annette
        assert "Ann Lee" not in new and "ann@example.org" not in new, name
    assert text["replaced"] == ["[PER]", "[LOC]", "[EMAIL]"]
    assert text["copied"] == text["strategies"]["typed"]


def test_eight_languages_have_their_words_found_and_their_leak_bound(
    results: dict[str, Any],
) -> None:
    languages = results["text"]["result"]["languages"]
    single = {"en", "de", "es", "fr", "it", "lv", "nl", "pt"}
    assert set(languages) == {*single, "auto", "multi"}
    for name in ("auto", "multi"):
        taken = languages[name]["taken"]
        assert [line.partition(" (")[0] for line in taken] == ["English", "German", "French"]
    assert not any(languages[name]["taken"] for name in single)
    for name, language in languages.items():
        assert language["status"][0].isdigit() and len(language["marks"]) >= 3, name
        assert "not known" in language["leak"] and "At most" not in language["leak"], name
        if name != "multi":  # nothing was measured for its taggers
            assert re.search(r"worst of any set so far: [\d.]+\s%", language["leak"]), name


def test_a_recording_is_masked_where_its_private_words_are(results: dict[str, Any]) -> None:
    pytest.importorskip("pocketsphinx")
    recording = results["recording"]["result"]
    assert recording["noText"] == "Type what is said in the clip"
    assert re.match(r"\d+ words? masked in", recording["status"])
    assert len(recording["stretches"]) == recording["masked"] >= 1
    for left, width, kind in recording["stretches"]:
        assert left >= 0 and width > 1 and left + width <= 100.5 and kind
    assert recording["text"].count("<") == recording["masked"]
    assert recording["drawn"][1]["colours"] > 20
    assert recording["saved"]["head"] == "RIFF" and recording["saved"]["name"].endswith(
        "-masked.wav"
    )
    assert "The voice is the speaker's own." in recording["notes"]
    assert recording["withheld"].startswith("Withheld: ")
    assert recording["stale"] is False


def test_scores_of_every_format_are_measured(results: dict[str, Any]) -> None:
    measures = results["measures"]["result"]
    assert measures["noFile"] == "Choose or drop a file: Scores"
    assert set(measures["scores"]) == {"npz", "csv", "tsv", "parquet"}
    tables = {page["rows"] for page in measures["scores"].values()}
    assert len(tables) == 1
    assert re.search(r"EER\s+29\.00 %", tables.pop())
    for page in measures["scores"].values():
        assert page["status"].startswith("Measured in")
        assert len(page["figures"]) == 4
        assert any("Tippett" in title for title in page["figures"])
        assert page["verdict"].startswith("These scores tell who is who.")
    assert measures["noTrials"] == "Choose or drop a file: Trials of Kaldi"
    assert measures["kaldi"]["status"].startswith("Measured in")
    assert "resamples of 8 speakers" in measures["kaldi"]["text"]
    assert measures["wrong"].startswith("The scores: ")
    assert measures["stale"] is False


def test_embeddings_are_compared_and_people_looked_for(results: dict[str, Any]) -> None:
    measures = results["measures"]["result"]
    similarity, reidentify = measures["similarity"], measures["reidentify"]
    assert similarity["verdict"].startswith("Voices are still like themselves.")
    assert reidentify["verdict"].startswith("People are found again.")
    assert "DeID" in similarity["rows"] and len(similarity["figures"]) == 1
    assert len(reidentify["figures"]) == 4
    assert any("Linkability" in title for title in reidentify["figures"])


def test_audits_are_opened(results: dict[str, Any]) -> None:
    for audits in (results["audits"]["result"], results["guarded"]):
        assert audits["state"] == "1 audit, the newest first."
        assert "first" in audits["list"] and "synthetic speech" in audits["list"]
        assert audits["report"]["title"] and audits["report"]["figures"] > 3
        assert audits["report"]["styled"] == "0px"


def test_a_token_is_asked_for_until_it_is_right(results: dict[str, Any]) -> None:
    assert (results["guarded"]["closed"], results["guarded"]["asked"]) == (True, False)


def test_without_audits_the_page_says_how_to_have_them(results: dict[str, Any]) -> None:
    assert "sottovoce serve --audits" in results["bare"]["list"]
    assert "report" not in results["bare"]


def test_the_page_has_no_script_or_style_of_its_own() -> None:
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script>|<style|\son\w+=|style=|https?://", page)


def test_the_example_says_what_the_page_says_it_does() -> None:
    """The clip that ships is one of the built-in corpus, and its words are those in the page."""
    words = re.search(r'EXAMPLE = "(.*)"', (STATIC / "clip.js").read_text(encoding="utf-8"))
    assert words is not None
    assert words[1] == "My name is Thomas Fischer, and I live in Rome, on Miller Street."
    assert (STATIC / "example.flac").read_bytes()[:4] == b"fLaC"
