from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from error_codes import raises_code

from sottovoce.cli import app
from sottovoce.cli.anonymise_text import command
from sottovoce.core.errors import InputError, TooFewError, UsageError

TEXT = "please call zorbalda quint at nine am\nmail ann.lee@example.org about it\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text(TEXT)
    (tmp_path / "deny.txt").write_text("zorbalda quint\tPER\n")
    return path


def run(*args: object) -> Result:
    return CliRunner().invoke(command, [str(arg) for arg in args], catch_exceptions=False)


@pytest.mark.parametrize(
    "strategy", ["redact", "typed", "instance", "named", "word", "full", "generalise", "hmac"]
)
def test_strategies(source: Path, tmp_path: Path, strategy: str) -> None:
    out = tmp_path / "out.txt"
    done = run(source, out, "--strategy", strategy, "--deny", tmp_path / "deny.txt")
    assert done.exit_code == 0
    assert "ann.lee" not in out.read_text() and out.read_text().startswith("please call ")
    assert len(out.read_text().splitlines()) == 2


def test_neither_report_nor_json_shows_a_private_word(source: Path, tmp_path: Path) -> None:
    deny = ("--deny", tmp_path / "deny.txt")
    result = run(source, tmp_path / "o.txt", "--report", "--json", tmp_path / "r.json", *deny)
    written = (tmp_path / "r.json").read_text()
    for word in ("zorbalda", "quint", "ann.lee"):
        assert word not in result.output + written
    report = json.loads(written)
    assert report["found"] == len(report["spans"]) >= 3
    assert report["mask"][0]["words"][:2] == [2, 3]


def test_a_leak_bound_is_printed_only_for_a_kind_of_text_that_was_measured(
    source: Path, tmp_path: Path
) -> None:
    result = run(source, tmp_path / "o.txt", "--report", "--json", tmp_path / "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["guarantee"] is None and report["worst_known"]["is_bound"] is False
    assert "not known for this text" in result.output and "at most" not in result.output
    assert "the worst of any set, not a bound" in result.output and "--label" in result.output
    kind = ("--kind", "commands")
    result = run(source, tmp_path / "p.txt", "--report", "--json", tmp_path / "s.json", *kind)
    report = json.loads((tmp_path / "s.json").read_text())
    assert report["worst_known"] is None
    assert report["guarantee"]["kind"] == "commands" and "MASSIVE" in result.output
    assert report["guarantee"]["delta"] > 1 - report["guarantee"]["recall"]
    assert "epsilon_average_case" in report["guarantee"]
    assert "leak in text of the kind 'commands': at most" in result.output
    with raises_code("unknown-name", UsageError):
        run(source, tmp_path / "q.txt", "--kind", "love letters")
    assert not (tmp_path / "q.txt").exists()


def test_a_labelled_sample_gives_the_bound_of_text_like_it(source: Path, tmp_path: Path) -> None:
    labels, report = tmp_path / "labels.txt", tmp_path / "e.json"
    texts = tmp_path / "calls.txt"
    texts.write_text("".join(f"call ann lee in berlin at nine pm on day {i}\n" for i in range(60)))
    done = run("--label", "40", texts, labels)
    assert "0 of 40 sentences are checked" in done.output
    assert labels.stat().st_mode & 0o077 == 0
    with raises_code("too-few", TooFewError):
        run("--evaluate", labels)
    checked = labels.read_text().replace("\n? ", "\n= ")
    labels.write_text(checked.replace("= call ", "= [ORG call] "))
    assert "40 of 40" in run("--label", "7", texts, labels).output, "goes on with the file"
    run("--evaluate", labels, "--json", report)
    measured = json.loads(report.read_text())["sample"]
    assert measured["words"]["missed"] > 0 and measured["sentences"] == 40
    out, summary = tmp_path / "o.txt", tmp_path / "s.json"
    result = run(texts, out, "--measured", report, "--report", "--json", summary)
    guarantee = json.loads(summary.read_text())["guarantee"]
    assert guarantee["kind"] == "own sample" and guarantee["measured_on"] == "labels.txt"
    assert "leak in text of the kind 'own sample': at most" in result.output
    with raises_code("mismatch", UsageError):
        run(texts, tmp_path / "p.txt", "--measured", report, "--tau", "0.9")
    assert not (tmp_path / "p.txt").exists()


def test_reproducible_runs_agree_and_others_do_not(source: Path, tmp_path: Path) -> None:
    texts = []
    for i, extra in enumerate((["--reproducible", "5"],) * 2 + ([],) * 2):
        run(source, tmp_path / f"{i}.txt", *extra, "--deny", tmp_path / "deny.txt")
        texts.append((tmp_path / f"{i}.txt").read_text())
    assert texts[0] == texts[1] and len(set(texts)) == 3


def test_a_secret_repeats_codes(source: Path, tmp_path: Path) -> None:
    for name in "ab":
        run(source, tmp_path / name, "--strategy", "hmac", "--secret", tmp_path / "secret")
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()
    with raises_code("exclusive-options", UsageError):
        run(source, tmp_path / "c", "--secret", tmp_path / "secret", "--reproducible", 1)


def test_evaluation(tmp_path: Path) -> None:
    rows = "call\tO\nanna\tB-PER\nat\tO\nnine\tB-TIME\nam\tI-TIME\n\n" * 12
    (tmp_path / "gold.conll").write_text(rows)
    done = run("--evaluate", tmp_path / "gold.conll", "--json")
    evaluation = json.loads(done.output)
    assert evaluation["entities"]["there"] == 24 and evaluation["tokens"]["there"] == 36
    assert 0 <= evaluation["tokens"]["recall_low"] <= evaluation["tokens"]["recall"] <= 1
    shown = run("--evaluate", tmp_path / "gold.conll").output
    assert "leak bound" in shown and "anna" not in shown


def test_list() -> None:
    shown = run("--list").output
    assert "generalise" in shown and "en spoken" in shown and "CC-BY-4.0" in shown
    assert json.loads(run("--list", "--json").output)["taggers"]


def test_bad_input(source: Path, tmp_path: Path) -> None:
    assert run().exit_code == 2
    with raises_code("unknown-name", UsageError):
        run(source, tmp_path / "o", "--lang", "xx")
    with raises_code("same-file", UsageError):
        run(source, source)
    with raises_code("not-found", InputError):
        run(tmp_path / "none", tmp_path / "o")
    with raises_code("unknown-name", UsageError):
        run(source, tmp_path / "o", "--types", "per, foo")
    (tmp_path / "latin").write_bytes(b"M\xfcller")
    with raises_code("not-utf8", InputError):
        run(tmp_path / "latin", tmp_path / "o", "--secret", tmp_path / "secret")
    assert not (tmp_path / "o").exists() and not (tmp_path / "secret").exists()
    (tmp_path / "o").write_text("mine")
    with raises_code("exists", UsageError):
        run(source, tmp_path / "o")
    assert (tmp_path / "o").read_text() == "mine"


def test_text_in_another_language_gives_a_caution(tmp_path: Path) -> None:
    (tmp_path / "de.txt").write_text("bitte ruf morgen meine schwester an und sag ihr das\n" * 3)
    shown = run(tmp_path / "de.txt", tmp_path / "o.txt")
    assert "looks like 'de'" in shown.output
    result = run(tmp_path / "de.txt", tmp_path / "p.txt", "--json", "--lang", "DE")
    assert json.loads(result.output)["looks_like_language"] is None


def test_the_report_of_written_text_names_a_written_set(tmp_path: Path) -> None:
    for name, text in (("w", "Ann Lee lives in Rome.\n"), ("s", "ann lee lives in rome\n")):
        (tmp_path / f"{name}.txt").write_text(text)
    results = {n: run(tmp_path / f"{n}.txt", tmp_path / f"{n}.out", "--report") for n in "ws"}
    assert ", cased" in results["w"].output and ", lower case" in results["s"].output


def test_training_and_using_a_tagger(source: Path, tmp_path: Path) -> None:
    rows = "".join(
        f"please\tO\ncall\tO\n{name}\tB-PER\nnow\tO\n\nplease\tO\ncome\tO\n\n"
        for name in ["anna", "bert", "carla", "dirk", "emma", "fred", "gina", "hans", "ines", "jan"]
        * 6
    )
    (tmp_path / "t.conll").write_text(rows)
    args = ["train", "entities", str(tmp_path / "t.conll"), "--lang", "en"]
    args += ["--register", "spoken", "--out", str(tmp_path / "own.npz")]
    done = CliRunner().invoke(app, args, catch_exceptions=False)
    assert done.exit_code == 0 and "en spoken" in done.output
    out = tmp_path / "o.txt"
    assert run(source, out, "--tagger", tmp_path / "own.npz", "--report").exit_code == 0
    run(source, tmp_path / "p.txt", "--tagger", tmp_path / "own.npz", "--strategy", "typed")
    assert "[PER]" in (tmp_path / "p.txt").read_text()


def test_processes_side_by_side_share_nothing(tmp_path: Path) -> None:
    """Two at once in one folder: each output has its own input's words and nothing is left over."""
    jobs = []
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(f"marker{name} call anna at nine am\n" * 200)
        args = [f"{name}.txt", f"{name}.out", "--strategy", "full", "--allow", f"{name}.allow"]
        (tmp_path / f"{name}.allow").write_text(f"marker{name}\n")
        start = [sys.executable, "-m", "sottovoce", "anonymise", "text", *args]
        jobs.append(subprocess.Popen(start, cwd=tmp_path, stdout=subprocess.PIPE))
    assert [job.communicate()[0] is not None and job.returncode for job in jobs] == [0, 0]
    first, second = ((tmp_path / f"{name}.out").read_text() for name in ("one", "two"))
    assert "markertwo" not in first and "markerone" not in second
    assert first.replace("markerone", "") != second.replace("markertwo", "")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(f"{n}.{e}" for n in ("one", "two") for e in ("txt", "out", "allow"))


@pytest.mark.parametrize(
    "bad",
    [
        ["--tau", "7"],
        ["--types", "FOO"],
        ["--lang", "xx"],
        ["--p", "3"],
        ["--tagger", "nofile"],
        ["--copy-fields", "raw"],
        ["--deny", "nofile"],
    ],
)
def test_a_refused_run_leaves_no_secret(source: Path, tmp_path: Path, bad: list[str]) -> None:
    with pytest.raises((InputError, UsageError)):
        run(source, tmp_path / "o", "--secret", tmp_path / "k", *bad)
    assert not (tmp_path / "k").exists() and not (tmp_path / "o").exists()


def test_a_run_that_cannot_write_leaves_no_secret_and_keeps_one_that_was(
    source: Path, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    with raises_code("exists", UsageError):
        run(source, tmp_path / "folder", "--secret", tmp_path / "k")
    with raises_code("not-writable", InputError):
        run(source, source / "below", "--secret", tmp_path / "k")
    assert not (tmp_path / "k").exists()
    run(source, tmp_path / "o", "--secret", tmp_path / "k")
    with raises_code("not-writable", InputError):
        run(source, source / "below", "--secret", tmp_path / "k")
    assert (tmp_path / "k").exists()


def test_an_interrupted_run_leaves_no_secret(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("sottovoce.cli.text_run.atomic_file", interrupted)
        run(source, tmp_path / "o", "--secret", tmp_path / "k")
    assert not (tmp_path / "k").exists()
    with monkeypatch.context() as patched:
        patched.setattr("sottovoce.anonymise.text.TextAnonymiser.prepare", interrupted)
        run(source, tmp_path / "o", "--secret", tmp_path / "k")
    assert not (tmp_path / "k").exists() and not (tmp_path / "o").exists()


def test_no_file_is_written_over_another(source: Path, tmp_path: Path) -> None:
    before = source.read_bytes()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "o9.txt")
    report = tmp_path / "one.json"
    for args in (
        (source, tmp_path / "o9.txt", "--secret", tmp_path / "o9.txt"),
        (source, tmp_path / "o9.txt", "--secret", link),
        (source, tmp_path / "o9.txt", "--secret", source),
        (source, tmp_path / "o9.txt", "--secret", report, "--json", report),
        (source, report, "--json", report),
    ):
        with raises_code("same-file", UsageError):
            run(*args)
    assert source.read_bytes() == before
    assert not (tmp_path / "o9.txt").exists() and not report.exists()


def test_fields_that_are_left_out_are_named_and_their_words_are_not(tmp_path: Path) -> None:
    rows = {"text": "so be it", "raw": "Ann", "speaker": "s1"}
    (tmp_path / "a.jsonl").write_text(json.dumps(rows))
    done = run(tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--json", tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["left_out_fields"] == ["raw", "speaker"]
    assert "raw,speaker" in done.stderr and "Ann" not in done.output
    assert json.loads((tmp_path / "b.jsonl").read_text()) == {"text": "so be it"}
    done = run(tmp_path / "a.jsonl", tmp_path / "c.jsonl", "--copy-fields", "speaker, raw")
    assert json.loads((tmp_path / "c.jsonl").read_text()) == rows
    assert "left out" not in done.stderr


def test_every_key_of_the_json_is_described(source: Path, tmp_path: Path) -> None:
    run(source, tmp_path / "o.txt", "--json", tmp_path / "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    run(source, tmp_path / "p.txt", "--json", tmp_path / "s.json", "--kind", "commands")
    bound = json.loads((tmp_path / "s.json").read_text())["guarantee"]
    guide = (Path(__file__).parents[2] / "docs" / "text.md").read_text()
    described = guide.partition("### The JSON")[2].partition("\n## ")[0]
    for key in (*report, *report["spans"][0], *report["mask"][0], *bound, *report["worst_known"]):
        assert f"`{key}`" in described, key


def test_standard_input_and_output(tmp_path: Path) -> None:
    text = "1\r\n00:00:01,000 --> 00:00:02,000\r\nmail ann.lee@example.org\r\n"
    command_line = [sys.executable, "-m", "sottovoce", "anonymise", "text", "-", "-"]
    done = subprocess.run(
        [*command_line, "--strategy", "typed", "--json", str(tmp_path / "r.json")],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    assert done.stdout == text.replace("ann.lee@example.org", "[EMAIL]").encode()
    assert b"1 private value in 1 text; written to standard output" in done.stderr
    assert b"read as srt" in done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["format"] == "srt" and report["provenance"]["inputs"] == []
    with raises_code("same-file", UsageError):
        run("-", "-", "--json")


def test_a_table_names_the_columns_that_are_not_searched(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text,who\n1,mail ann.lee@example.org,Ann\n")
    with raises_code("missing-option", UsageError):
        run(tmp_path / "a.csv", tmp_path / "b.csv")
    args = ["--columns", "text", "--json", tmp_path / "r.json", "--strategy", "typed"]
    done = run(tmp_path / "a.csv", tmp_path / "b.csv", *args)
    assert "copied 2 columns without searching: id,who" in done.stderr
    assert (tmp_path / "b.csv").read_text() == "id,text,who\n1,mail [EMAIL],Ann\n"
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["not_searched_columns"] == ["id", "who"]
    assert report["spans"][0]["id"] == "2:text"


def test_corpus_tables_that_change_nothing_are_mentioned(source: Path, tmp_path: Path) -> None:
    done = run(source, tmp_path / "o", "--allow-corpus-tables", "--json", tmp_path / "r.json")
    assert "--allow-corpus-tables changed nothing" in done.stderr
    assert json.loads((tmp_path / "r.json").read_text())["corpus_tables"] == []
    names = "\n".join(f"call zorbalda{chr(97 + i // 10)}{chr(97 + i % 10)} now" for i in range(60))
    (tmp_path / "deny.txt").write_text(
        "\n".join(line.split()[1] + "\tPER" for line in names.split("\n"))
    )
    (tmp_path / "many.txt").write_text((names + "\n") * 6)
    args = ["--allow-corpus-tables", "--deny", tmp_path / "deny.txt"]
    done = run(tmp_path / "many.txt", tmp_path / "p", *args, "--json", tmp_path / "s.json")
    assert "changed nothing" not in done.stderr
    assert json.loads((tmp_path / "s.json").read_text())["corpus_tables"] == ["PER"]
    done = run(tmp_path / "many.txt", tmp_path / "q", *args, "--strategy", "redact")
    assert "changed nothing" in done.stderr, "this strategy draws nothing"


def test_a_part_in_another_language_gives_a_caution_that_names_it(tmp_path: Path) -> None:
    english = "please call my sister tomorrow and tell her that I will be late for dinner again\n"
    german = "bitte ruf morgen meine schwester an und sag ihr dass ich wieder zu spät komme\n"
    (tmp_path / "a.txt").write_text(english * 200 + german * 9 + english * 9)
    shown = run(tmp_path / "a.txt", tmp_path / "o.txt", "--json", tmp_path / "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    (part,) = report["language_parts"]
    assert part["language"] == "de" and report["looks_like_language"] is None
    assert 199 <= int(part["first"]) <= 203 and 206 <= int(part["last"]) <= 211
    assert f"from {part['first']} to {part['last']} looks like 'de'" in shown.stderr


def test_a_review_by_files(tmp_path: Path) -> None:
    """Propose, decide, replace; the same decisions give the same bytes."""
    source = tmp_path / "in.txt"
    source.write_text("my name is Ann Lee from Berlin\nthe gizmo is here\n")
    proposal, reviewed = tmp_path / "p.json", tmp_path / "r.json"
    assert "as private as the texts" in run(source, "--propose", proposal).output
    content = json.loads(proposal.read_text())
    assert "berlin" not in proposal.read_text().lower()
    first, second = content["documents"]
    assert [each["by"] for each in first["decisions"]] == ["model", "model"]
    first["decisions"][1].update(mask=False, by="person")
    second["decisions"] = [{"start": 4, "end": 9, "kind": "PER", "mask": True, "by": "person"}]
    reviewed.write_text(json.dumps(content))
    decided = ("--decisions", reviewed, "--strategy", "typed", "--reproducible", 1)
    for name in ("a", "b"):
        run(source, tmp_path / f"{name}.txt", *decided, "--json", tmp_path / f"{name}.json")
    written = (tmp_path / "a.txt").read_text()
    assert written == "my name is [PER] from Berlin\nthe [PER] is here\n"
    assert (tmp_path / "b.txt").read_text() == written
    counts = json.loads((tmp_path / "a.json").read_text())["decided"]
    assert counts == {"rule": 0, "model": 1, "person": 1, "kept_by_person": 1}
    source.write_text("my name is Ann Lee from Berlin\nthe gizmo was here\n")
    with raises_code("changed-text"):
        run(source, tmp_path / "c.txt", *decided)
    with raises_code("exists", UsageError):
        run(source, "--propose", proposal)


GERMAN = "Bitte ruf morgen Zorbalda Quint an und sag ihr, dass der Zug zu spät kommt."
ENGLISH = "Please call Zorbalda Quint tomorrow and tell her that the train is late."


@pytest.mark.parametrize("lang", ["auto", "multi"])
@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("in.txt", f"{GERMAN}\r\n\r\n{ENGLISH}", []),
        ("in.srt", f"1\n00:00:01,000 --> 00:00:02,000\n{GERMAN}\n\n2\n00:00:03,000 --> 00:00:04,000"
         f"\n<i>{ENGLISH}</i>\n", []),
        ("in.csv", f'id,text\n1,"{GERMAN}"\n2,"{ENGLISH}"\n', ["--columns", "text"]),
        ("in.jsonl", json.dumps({"id": "a", "text": GERMAN}, ensure_ascii=False) + "\n"
         + json.dumps({"id": "b", "text": ENGLISH}) + "\n", []),
    ],
)  # fmt: skip
def test_files_of_several_languages_keep_their_structure(
    tmp_path: Path, lang: str, name: str, content: str, options: list[str]
) -> None:
    source, out = tmp_path / name, tmp_path / f"out-{name}"
    source.write_bytes(content.encode())
    (tmp_path / "deny.txt").write_text("zorbalda quint\tPER\n")
    deny = ("--deny", tmp_path / "deny.txt", "--types", "PER", "--tau", "0.01")
    report = tmp_path / "r.json"
    done = run(
        source, out, "--lang", lang, "--strategy", "typed", "--json", report, *deny, *options
    )
    assert done.exit_code == 0
    assert out.read_bytes().decode() == content.replace("Zorbalda Quint", "[PER]")
    languages = json.loads(report.read_text())["languages"]
    assert [part["searched"] for part in languages["parts"]] == [["de"], ["en"]]
    assert set(languages["words"]) == {"de", "en"} and languages["unsure_words"] == 0


def test_languages_are_reported_and_no_bound_is(source: Path, tmp_path: Path) -> None:
    done = run(source, tmp_path / "o.txt", "--lang", "auto", "--report")
    assert "taken as:" in done.output and "not known for this text" in done.output
    with raises_code("unknown-name", UsageError):
        run(source, tmp_path / "p.txt", "--lang", "auto", "--kind", "commands")


def test_a_sample_of_several_languages_gives_its_bound(tmp_path: Path) -> None:
    source, labels, leak = tmp_path / "in.txt", tmp_path / "labels.txt", tmp_path / "leak.json"
    source.write_text(f"{GERMAN}\n{ENGLISH}\n")
    assert run("--label", 2, source, labels, "--lang", "auto").exit_code == 0
    labels.write_text(labels.read_text().replace("\n? ", "\n= "))
    assert run("--evaluate", labels, "--lang", "auto", "--json", leak).exit_code == 0
    done = run(source, tmp_path / "o.txt", "--lang", "auto", "--measured", leak, "--report")
    assert "at most" in done.output
    with raises_code("mismatch", UsageError):
        run(source, tmp_path / "p.txt", "--lang", "multi", "--measured", leak)


def test_training_for_several_languages_names_the_language_of_each_file(tmp_path: Path) -> None:
    path = tmp_path / "train.conll"
    path.write_text("ann\tB-PER\n\n")
    arguments = ["train", "entities", path, "--lang", "multi", "--register", "spoken"]
    done = CliRunner().invoke(app, [*map(str, arguments), "--out", str(tmp_path / "o.npz")])
    assert isinstance(done.exception, UsageError) and done.exception.code == "unknown-name"
