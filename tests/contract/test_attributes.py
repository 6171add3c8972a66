from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.records import Change
from evenhand.tools import attributes as folder
from evenhand.tools.attributes import NoValue, attributes, draw_values
from evenhand.tools.gate import check_isolation

BASE = (
    "A 28-year-old White male patient presents with fever for 3 days. The patient lives in Leeds. "
    "The patient has a history of migraine. The patient's brother has asthma. What might be the "
    "causes of the symptoms?"
)
BARE = "A patient presents with fever. What might be the causes of the symptoms?"
AN_ATTRIBUTE = '''
from evenhand.tools.attributes import Mention, attribute

@attribute
class Dropped:
    """Religion, by two words."""
    name = "dropped"
    predicate = "has_religion"
    def find(self, text):
        words = [word for word in ("Hindu", "Muslim") if word in text]
        return [Mention(text.index(word), text.index(word) + len(word), word) for word in words]
    def value(self, text):
        return next((mention.value for mention in self.find(text)), None)
    def draw(self, text, rng):
        return "Muslim"
    def replace(self, text, after):
        return text.replace("Hindu", after)
'''


@pytest.mark.parametrize("name", attributes.names())
@given(seed=st.integers(0, 2**32 - 1))
def test_swap_twice_is_identity(name: str, seed: int) -> None:
    known = attributes.get(name)
    before = known.value(BASE)
    assert before is not None
    after = known.draw(BASE, np.random.default_rng(seed))
    assert after != before
    variant = known.replace(BASE, after)
    assert known.value(variant) == after
    assert known.replace(variant, before) == BASE
    change = Change(attribute=name, before=before, after=after)
    assert check_isolation(BASE, variant, [change]).accepted


@pytest.mark.parametrize("name", attributes.names())
def test_a_text_without_it_stays(name: str) -> None:
    known = attributes.get(name)
    assert known.find(BARE) == []
    assert known.value(BARE) is None
    drawn = known.draw(BARE, np.random.default_rng(0))
    assert known.replace(BARE, drawn) == BARE


@pytest.mark.parametrize("name", attributes.names())
@given(seed=st.integers(0, 2**32 - 1))
def test_what_is_put_in_is_read_and_passes_the_gate(name: str, seed: int) -> None:
    known = attributes.get(name)
    value = known.draw(BARE, np.random.default_rng(seed))
    variant = known.insert(BARE, value)
    assert known.value(variant) == value
    assert known.words(value) in variant
    change = Change(attribute=name, before=None, after=value)
    assert check_isolation(BARE, variant, [change]).accepted


@given(st.permutations(attributes.names()), st.integers(0, 2**32 - 1))
def test_attributes_are_put_in_together_in_any_order(names: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    text, changes = BARE, list[Change]()
    for name in names:
        value = attributes.get(name).draw(text, rng)
        text = attributes.get(name).insert(text, value)
        changes.append(Change(attribute=name, before=None, after=value))
    verdict = check_isolation(BARE, text, changes)
    assert verdict.accepted, (text, verdict)


@pytest.mark.parametrize("name", attributes.names())
def test_what_is_stated_is_not_put_in_again(name: str) -> None:
    with pytest.raises(NoValue):
        attributes.get(name).insert(BASE, "28")


@pytest.mark.parametrize("name", attributes.names())
def test_several_values_differ(name: str) -> None:
    drawn = draw_values(attributes.get(name), BARE, np.random.default_rng(3), 4)
    assert drawn
    assert len(set(drawn)) == len(drawn) <= 4


def test_a_dropped_file_is_picked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dropped_attribute.py").write_text(AN_ATTRIBUTE)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    try:
        assert "dropped" in attributes.names()
        change = Change(attribute="dropped", before="Hindu", after="Muslim")
        base = "A Hindu patient presents with fever."
        assert check_isolation(base, base.replace("Hindu", "Muslim"), [change]).accepted
    finally:
        attributes.forget("dropped")
