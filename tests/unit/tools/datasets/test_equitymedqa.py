from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools.datasets import asking_part, load_samples


def write(folder: Path, content: str | bytes, name: str = "some.csv") -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def fails(name: str, path: str | None, n: int | None = None) -> str:
    with pytest.raises(UserError) as caught:
        load_samples(name, path, n, 0)
    return str(caught.value)


def test_trinds_has_106_rows_and_none_is_taken_for_a_header(shared: Path) -> None:
    path = str(shared / "data" / "equitymedqa" / "equitymedqa_trinds.csv")
    samples, digest = load_samples("trinds", path, None, 0)
    assert len(samples) == 106
    assert samples[0].text.startswith("Patient is a 28 year old male")
    assert samples[0].question == "What treatment should be given for this condition?"
    assert samples[0].id.startswith("trinds-0-")
    assert samples[81].question is None
    assert samples[94].question is None
    assert len(digest) == 64


def test_a_draw_is_seeded_nested_and_in_file_order(shared: Path) -> None:
    path = str(shared / "data" / "equitymedqa" / "equitymedqa_trinds.csv")
    few, digest = load_samples("trinds", path, 6, 3)
    again, _ = load_samples("trinds", path, 6, 3)
    more, same = load_samples("trinds", path, 20, 3)
    other, _ = load_samples("trinds", path, 6, 4)
    assert few == again
    assert few != other
    assert digest == same
    assert {each.id for each in few} < {each.id for each in more}
    assert [each.position for each in more] == sorted(each.position for each in more)


def test_more_than_there_are(tmp_path: Path) -> None:
    path = write(tmp_path, "Is it flu?\nIs it malaria?\n")
    message = fails("trinds", path, 3)
    assert "has 2" in message
    assert "1 to 2" in fails("trinds", path, 0)


@pytest.mark.parametrize(
    "content",
    [
        "I have fever. Is it flu?\nI cough. Is it flu?\n",
        "prompt\nI have fever. Is it flu?\nI cough. Is it flu?\n",
        "\ufeffI have fever. Is it flu?\r\nI cough. Is it flu?\r\n",
        'id,question,source\n1,"I have fever. Is it flu?",a\n2,I cough. Is it flu?,b\n',
        'I have fever. Is it flu?\n\n"I cough. Is it flu?"',
    ],
)
def test_with_and_without_a_header(tmp_path: Path, content: str) -> None:
    samples, _ = load_samples("equitymedqa", write(tmp_path, content), None, 0)
    assert [sample.text for sample in samples] == [
        "I have fever. Is it flu?",
        "I cough. Is it flu?",
    ]
    assert samples[0].question == "Is it flu?"


def test_pairs_keep_the_second_question(tmp_path: Path) -> None:
    path = write(tmp_path, '"Is it flu, in a man?","Is it flu, in a woman?"\n')
    samples, _ = load_samples("equitymedqa", path, None, 0)
    assert samples[0].text == "Is it flu, in a man?"
    assert samples[0].columns == {"pair": "Is it flu, in a woman?"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("Is it flu?\nIs it a, b?\nIs it c?\n", ["row 2 has 2 columns", "expected 1"]),
        ('Is it flu?\n"  "\nIs it c?\n', ["row 2 has an empty cell in column 1"]),
        ("prompt\nIs it flu?\n' ',x\nIs it c?\n", ["row 2 has 2 columns"]),
        ("", ["empty"]),
        ("\n\n", ["empty"]),
        ("prompt\n", ["empty"]),
        ("name,value\n1,2\n", ["no column of questions", "name, value"]),
        ("Is a, b, c it?\nIs d, e, f it?\n", ["3 columns", "expected one"]),
        (b"Is it flu?\nIs it caf\xe9?\n", ["line 2", "UTF-8"]),
        ('Is it flu?\n"Is it c?\n', ["line 2", "CSV"]),
    ],
)
def test_faults_by_row(tmp_path: Path, content: str | bytes, words: list[str]) -> None:
    message = fails("equitymedqa", write(tmp_path, content))
    assert "some.csv" in message
    for word in words:
        assert word in message


def test_many_faults_are_counted(tmp_path: Path) -> None:
    rows = "".join(f"Is it {i}?\n" for i in range(20)) + '" "\n' * 8
    message = fails("trinds", write(tmp_path, rows))
    assert "row 21 " in message
    assert "and 3 more" in message


def test_paths(tmp_path: Path) -> None:
    assert "katielink/EquityMedQA" in fails("trinds", None)
    assert "no such file" in fails("trinds", str(tmp_path / "gone.csv"))
    assert "folder" in fails("trinds", str(tmp_path))
    assert "trinds" in fails("trind", None)
    assert "leave --path" in fails("demo", "x.csv")
    assert "katielink/EquityMedQA/equitymedqa_ehai.csv" in fails(
        "equitymedqa", "katielink/EquityMedQA"
    )


def test_offline_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub as huggingface

    monkeypatch.setattr(huggingface.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface.constants, "HF_HUB_CACHE", str(tmp_path))
    message = fails("trinds", "katielink/EquityMedQA")
    assert "--path" in message
    assert "equitymedqa_trinds.csv" in message


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("I cough. Is it flu?", "Is it flu?"),
        ("I cough. Is it flu? Or worse?", "Is it flu? Or worse?"),
        ("Is it flu? I cough.", None),
        ("Is it flu?", "Is it flu?"),
    ],
)
def test_the_asking_part(text: str, question: str | None) -> None:
    assert asking_part(text) == question
