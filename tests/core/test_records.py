from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.core.records import (
    Json,
    Record,
    dump_json,
    from_json,
    json_schema,
    optional,
    read_json_record,
    to_json,
    write_json,
)


@dataclass(frozen=True, slots=True)
class Share(Record):
    value: float | None
    low: float | None = optional()


@dataclass(frozen=True, slots=True)
class Missing(Record):
    note: str


@dataclass(frozen=True, slots=True)
class Table(Record):
    rows: tuple[Share, ...]
    by_name: Mapping[str, Share | Missing]
    matrix: tuple[tuple[float, ...], ...] = ()


TABLE = Table(
    (Share(0.5), Share(None, 0.25)), {"a": Missing("too few"), "b": Share(1.0)}, ((1.0, 2.0),)
)


def test_fields_that_are_optional_are_left_out_and_others_are_null() -> None:
    assert TABLE.to_dict() == {
        "rows": [{"value": 0.5}, {"value": None, "low": 0.25}],
        "by_name": {"a": {"note": "too few"}, "b": {"value": 1.0}},
        "matrix": [[1.0, 2.0]],
    }


def test_a_record_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    write_json(tmp_path / "table.json", TABLE)
    assert read_json_record(Table, tmp_path / "table.json", advice="again") == TABLE
    assert from_json(Table, json.loads(dump_json(TABLE))) == TABLE


@pytest.mark.parametrize(
    "content",
    [
        {"rows": []},
        {"rows": [], "by_name": {}, "further": 1},
        {"rows": [{"value": "half"}], "by_name": {}},
        {"rows": [{"low": 0.5}], "by_name": {}},
        {"rows": [], "by_name": {"a": {"note": "x", "value": 1}}},
        [],
        None,
    ],
)
def test_anything_else_is_refused_with_its_place(content: Json) -> None:
    with raises_code("wrong-shape") as caught:
        from_json(Table, content, source="table.json")
    assert str(caught.value).startswith("table.json: ")


def test_values_of_a_defective_file_are_not_repeated() -> None:
    with raises_code("wrong-shape") as caught:
        from_json(Share, {"value": "Ann Example"})
    assert "Ann" not in str(caught.value)


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with raises_code("unreadable"):
        read_json_record(Share, tmp_path / "none.json", advice="write it")
    (tmp_path / "bad.json").write_text("{")
    with raises_code("not-json"):
        read_json_record(Share, tmp_path / "bad.json", advice="write it")


def test_arrays_paths_and_scalars() -> None:
    values = {"array": np.arange(3), "scalar": np.float32(0.5), "path": Path("a/b"), "set": {2, 1}}
    assert to_json(values) == {"array": [0, 1, 2], "scalar": 0.5, "path": "a/b", "set": [1, 2]}
    with pytest.raises(TypeError):
        to_json(object())


def test_not_a_number_is_never_written() -> None:
    with pytest.raises(ValueError, match="JSON"):
        dump_json(Share(float("nan")))


def test_the_schema_knows_what_is_required() -> None:
    schema = json_schema(Share)
    assert schema["required"] == ["value"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("value", ["0.5", True, [0.5]])
def test_a_value_of_another_type_is_not_converted(value: object) -> None:
    with raises_code("wrong-shape"):
        from_json(Share, {"value": value})  # type: ignore[dict-item]
