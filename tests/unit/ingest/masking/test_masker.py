"""Masking of signals, and the maskers of all workspaces."""

from spanwise.ingest.masking.masker import Masker, WorkspaceMasking
from spanwise.ingest.rest_bodies import NewSignal
from spanwise.model.masking import Detector, MaskingMode, MaskingRules

RULES = MaskingRules(mode=MaskingMode.MASK, detectors=[Detector.EMAIL])
EMAIL = "ann@example.com"
SIGNAL = NewSignal(
    signal_name="score",
    value=1,
    id=EMAIL,
    user_id=EMAIL,
    session_id="s1",
    comment=f"from {EMAIL}",
    metadata={"a": [EMAIL, 1], EMAIL: None},
)


def test_a_signal_is_masked() -> None:
    masked = Masker(RULES).mask_signal(SIGNAL)
    assert masked.model_dump(exclude={"id"}) == {
        **SIGNAL.model_dump(exclude={"id"}),
        "userId": "[email]",
        "comment": "from [email]",
        "metadata": {"a": ["[email]", 1], "[email]": None},
    }


def test_a_signal_with_a_masked_id_is_still_told_apart() -> None:
    masker = Masker(RULES)
    ids = [masker.mask_id(chosen) for chosen in (EMAIL, "bob@example.com", EMAIL, "plain")]
    assert ids[0] == ids[2] != ids[1]
    assert ids[3] == "plain"
    assert "@" not in "".join(ids)


def test_a_signal_loses_its_texts_in_metadata_only() -> None:
    masked = Masker(MaskingRules(mode=MaskingMode.METADATA_ONLY)).mask_signal(SIGNAL)
    assert (masked.comment, masked.metadata, masked.value) == (None, {}, 1)


def test_a_workspace_has_a_masker_while_its_rules_are_on() -> None:
    masking = WorkspaceMasking()
    assert masking.find("a") is None
    masking.set("a", RULES)
    found = masking.find("a")
    assert found is not None
    assert found.mask_text(EMAIL) == "[email]"
    masking.set("a", MaskingRules())
    assert masking.find("a") is None


def test_replacing_all_rules_compiles_only_changed_ones() -> None:
    masking = WorkspaceMasking()
    masking.replace_all({"a": RULES, "b": RULES, "c": RULES})
    before = [masking.find(name) for name in "abc"]
    changed = RULES.model_copy(update={"detectors": [Detector.PHONE]})
    masking.replace_all({"a": RULES.model_copy(), "b": changed, "d": MaskingRules()})
    assert masking.find("a") is before[0]
    assert masking.find("b") is not before[1]
    assert masking.find("c") is masking.find("d") is None
