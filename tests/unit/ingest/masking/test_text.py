"""Masking of one text: what each detector finds and leaves, own patterns, time."""

import time
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.ingest.masking import patterns
from spanwise.ingest.masking.text import TextMasker
from spanwise.model.masking import Detector, MaskingMode, MaskingPattern, MaskingRules

ALL = TextMasker(MaskingRules(mode=MaskingMode.MASK, detectors=list(Detector)))
# Put together here, so that scanners for leaked keys do not report this file.
JWT = ".".join(("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "dozjgNryP4J3jVmNHl0w5N"))
PEM = "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"

FOUND = {
    Detector.EMAIL: (
        "ann@example.com",
        "ann.bee+tag@mail.example.co.uk",
        "o'hara@example.com",
        "jürgen@müller.de",
        "ann%40example.com",
        r"ann\u0040example.com",
    ),
    Detector.PHONE: (
        "+49 171 1234567",
        "+491711234567",
        "+49 (0)171 123 45 67",
        "+1 (415) 555-2671",
        "+1-415-555-2671",
        "+44 20 7946 0958",
        "+33 6 12 34 56 78",
        "0049 171 1234567",
        "0171 1234567",
        "0171/1234567",
        "01711234567",
        "030 12345678",
        "(030) 123456",
        "06 12 34 56 78",
        "06.12.34.56.78",
        "020 7946 0958",
        "07700 900123",
        "07700900123",
        "090-1234-5678",
        "(415) 555-2671",
        "415-555-2671",
        "415.555.2671",
        "1-415-555-2671",
        "(11) 91234-5678",
        "+49\u00a0171\u00a01234567",
    ),
    Detector.CREDIT_CARD: (
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "5555555555554444",
        "2223003122003222",
        "378282246310005",
        "3782 822463 10005",
        "30569309025904",
        "6011111111111117",
        "3530111333300000",
        "6200000000000005",
    ),
    Detector.IBAN: (
        "DE89370400440532013000",
        "DE89 3704 0044 0532 0130 00",
        "de89370400440532013000",
        "GB82 WEST 1234 5698 7654 32",
        "FR14 2004 1010 0505 0001 3M02 606",
        "MT84MALT011000012345MTLCAST001S",
        "NO93 8601 1117 947",
    ),
    Detector.IP_ADDRESS: (
        "192.168.1.10",
        "8.8.8.8",
        "2001:db8:85a3::8a2e:370:7334",
        "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
        "fe80::1",
        "::1",
        "::ffff:192.0.2.1",
    ),
    Detector.SECRET: (
        "sk-" + "proj-Ab12Cd34Ef56Gh78Ij90Kl12",
        "sk-" + "ant-api03-Ab12Cd34Ef56Gh78Ij90Kl12_-AA",
        "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc",
        "AIza" + "SyA-1234567890abcdefghijklmnopqrstu",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a",
        "github_" + "pat_11ABCDEFG0abcdefghij_klmnopqrstuvwxyz",
        "xoxb-" + "123456789012-abcdefghijklmnop",
        "hf_" + "abcdefghijklmnopqrstuvwxyz12345678",
        "gsk_" + "abcdefghijklmnopqrstuvwxyz1234567890ABCD",
        "glpat-" + "abcdefghij1234567890",
        "sw_" + "0123456789abcdef" * 4,
        JWT,
        PEM,
    ),
}
KEPT = (
    # Numbers, amounts, times, ids
    "1700000000",
    "1700000000000",
    "1700000000000000",
    "1700000000000000000",
    "1234567890",
    "1,234,567,890.12",
    "0.123456789012",
    "-0.0000001234567",
    "+0.123456789",
    "+1.23456789",
    "+12345678",
    "2024-01-15",
    "2024-01-15T10:20:30.123456789Z",
    "2024-01-15 10:20:30+0100",
    "01/02/2024 10:30",
    "01.02.2024, 10:30",
    "05-06-2024 0800",
    "+2024-01-15 a line of a diff",
    "10:20:30",
    "512 768 1024",
    "200 300 4000",
    "1e-07 2.5e+10",
    "@@ -123,456 +123,4567 @@",
    "550e8400-e29b-41d4-a716-446655440000",
    "0af7651916cd43dd8448eb211c80319c",
    "chatcmpl-01711234567890abcdef",
    "session-000123",
    "order 4111111111111112",
    "1234567812345678",
    "4111111111111111a",
    "0.4111111111111111",
    "DE89370400440532013001",
    "XX89370400440532013000",
    "00:1A:2B:3C:4D:5E",
    # Versions, code, names
    "1.2.3",
    "10.0.19045.1",
    "999.1.1.1",
    "1.2.3.4.5",
    "Mozilla/5.0 Chrome/120.0.0.0 Safari/537.36",
    "std::vector<int>::iterator",
    "Face::Book a::b",
    "react@18.2.0",
    "@app.route('/x')",
    "ann@localhost",
    "a @ b.com",
    "gpt-4o-2024-08-06",
    "claude-sonnet-4-5-20250929",
    "sk-learn-is-a-short-name-for-a-library",
    "risk-assessment-of-the-2024-model-family",
    "the bearer responsibilities-of-office",
    "authorization: required",
    "max_tokens: 4096",
    "password: string",
    "api_key: placeholder",
    "https://example.com:8080/a@b",
    "[email] [phone] [creditCard] [iban] [ipAddress] [secret]",
)


@pytest.mark.parametrize(
    ("detector", "value"), [(kind, value) for kind, values in FOUND.items() for value in values]
)
def test_a_value_is_masked_wherever_it_stands(detector: Detector, value: str) -> None:
    masker = TextMasker(MaskingRules(mode=MaskingMode.MASK, detectors=[detector]))
    for text in (
        "{}",
        "is {}, and",
        '{{"a":"{}"}}',
        r"a line\n{}\nanother",
        "({})",
        "<{}>",
        "x={}",
    ):
        assert masker.mask(text.format(value)) == text.format(f"[{detector}]")


@pytest.mark.parametrize("text", KEPT)
def test_a_text_without_such_values_is_kept(text: str) -> None:
    assert ALL.mask(text) == text
    assert ALL.mask(f'{{"content":"before\\n{text}\\nafter"}}') == (
        f'{{"content":"before\\n{text}\\nafter"}}'
    )


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abcdefghijkl", "Authorization: Bearer [secret]"),
        ('{"authorization": "Basic dXNlcjpwYXNz"}', '{"authorization": "Basic [secret]"}'),
        ("curl -H 'bearer abc123def456'", "curl -H 'bearer [secret]'"),
        ("password=correcthorse", "password=[secret]"),
        (r"{\"password\": \"hunter2hunter2\"}", r"{\"password\": \"[secret]\"}"),
        ("OPENAI_API_KEY=abc123def456", "OPENAI_API_KEY=[secret]"),
        ("postgres://me:hunter2@db.example.com/x", "postgres://me:[secret]@db.example.com/x"),
        ("mailto:ann@example.com?subject=x", "mailto:[email]?subject=x"),
        ("?user=ann@example.com&x=1", "?user=[email]&x=1"),
        ("ann@example.com,bob@example.com", "[email],[email]"),
        ("12 4111 1111 1111 1111", "12 [creditCard]"),
        ("2024 4111 1111 1111 1111 123", "2024 [creditCard] 123"),
        ("DE89370400440532013000 DE89370400440532013000", "[iban] [iban]"),
        ("01.02.2024 0171 1234567", "01.02.2024 [phone]"),
        ("0049 171 1234567 0049 171 1234567", "[phone] [phone]"),
        ("0171 1234567,Berlin", "[phone],Berlin"),
        ("http://10.0.0.1:8080/x", "http://[ipAddress]:8080/x"),
        ("[2001:db8::1]:443", "[[ipAddress]]:443"),
    ],
)
def test_the_text_around_a_value_is_kept(text: str, masked: str) -> None:
    assert ALL.mask(text) == masked


def test_only_chosen_detectors_run() -> None:
    masker = TextMasker(MaskingRules(mode=MaskingMode.MASK, detectors=[Detector.EMAIL]))
    assert masker.mask("ann@example.com 8.8.8.8") == "[email] 8.8.8.8"


planted = st.sampled_from([value for values in FOUND.values() for value in values])
words = st.text(alphabet=st.characters(codec="utf-8"), max_size=20)


@pytest.mark.parametrize("examples", [60, pytest.param(3000, marks=pytest.mark.long)])
def test_no_planted_value_remains_and_masking_again_changes_nothing(examples: int) -> None:
    @given(st.lists(st.tuples(words, planted), min_size=1, max_size=6), words)
    @settings(max_examples=examples, deadline=None)
    def check(parts: list[tuple[str, str]], end: str) -> None:
        masked = ALL.mask(" ".join(f"{before} {value}" for before, value in parts) + f" {end}")
        for _, value in parts:
            assert value not in masked
        assert ALL.mask(masked) == masked

    check()


@given(st.text(alphabet="ab12@.:+-/() \\nu[]{}\"'=%_", max_size=80))
@settings(max_examples=100, deadline=None)
def test_masking_any_text_again_changes_nothing(text: str) -> None:
    masked = ALL.mask(text)
    assert ALL.mask(masked) == masked


@given(st.uuids(), st.integers(0, 2**64))
def test_generated_ids_are_kept(identifier: uuid.UUID, number: int) -> None:
    for text in (
        str(identifier),
        f"{number:016x}",
        f"call_{number:x}",
        f"user-{number % 10**6:06}",
    ):
        assert ALL.mask(text) == text


ADVERSARIAL = (
    "a",
    "1",
    "a@",
    "a.",
    "@a.",
    "a@a.a",
    "a@b.cc ",
    "+1",
    "+1 ",
    "0 ",
    "01 ",
    "01 23 ",
    "(0",
    "1-",
    "4",
    "4 ",
    "4111 ",
    "4111111111111112 ",
    "DE89 ",
    "DE89",
    "de11-",
    "a:",
    ":",
    "1:",
    "::1 ",
    "1.",
    "1.1.1.1.",
    "eyJaaaaaaaa-",
    "eyJaaaaaaaa.",
    "\\neyJaaaaaaaa",
    "sk-",
    "sk-a",
    "AKIA",
    "SG.aaaaaaaaaaaaaaaa",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN A A A ",
    "bearer ",
    "authorization: ",
    "authorization",
    "password: ",
    "password",
    "://a:",
    "://",
    '\\"',
    "%40a",
)


@pytest.mark.parametrize("part", ADVERSARIAL)
@pytest.mark.parametrize("size", [2**17, pytest.param(2**20, marks=pytest.mark.long)])
def test_the_time_is_linear_in_the_length(part: str, size: int) -> None:
    text = part * (size // len(part)) + " ann@example.com 1.2.3.4 PRIVATE KEY eyJaaaaaaaa"
    started = time.process_time()
    ALL.mask(text)
    # On a busy machine; quadratic time would be many minutes.
    assert time.process_time() - started < 10 * size / 2**20


# --- own patterns -------------------------------------------------------------------------------


def with_pattern(regex: str, *detectors: Detector) -> TextMasker:
    pattern = MaskingPattern(name="own", regex=regex)
    rules = MaskingRules(mode=MaskingMode.MASK, detectors=list(detectors), patterns=[pattern])
    return TextMasker(rules)


def test_an_own_pattern_is_replaced_by_its_name() -> None:
    assert with_pattern(r"EMP-\d+").mask("of EMP-12, EMP-3 é漢") == "of [own], [own] é漢"
    assert with_pattern(r"[é漢]+").mask("aé漢b漢") == "a[own]b[own]"


def test_an_own_pattern_sees_the_text_before_detectors() -> None:
    masker = with_pattern(r"name: \w+ <[^>]*>", Detector.EMAIL)
    assert masker.mask("name: Ann <ann@example.com> bob@example.com") == "[own] [email]"


def test_a_pattern_that_matches_placeholders_does_not_replace_them() -> None:
    masker = with_pattern(r"\w+", Detector.EMAIL)
    assert masker.mask("[own] [email] x") == "[own] [email] [own]"


def test_a_pattern_never_replaces_an_empty_match() -> None:
    assert with_pattern(r"\b").mask("a b") == "a b"


def test_a_pattern_that_takes_quadratic_time_masks_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patterns, "MAX_SECONDS", 0.1)
    started = time.monotonic()
    masked = with_pattern(r"a(?:.*b)?").mask("a" * 2**20)
    assert time.monotonic() - started < 5
    assert masked.replace("[own]", "") == ""


def test_the_patterns_of_a_request_have_a_limit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left when it is spent is replaced whole, if it contains a match at all."""
    monkeypatch.setattr(patterns, "REQUEST_SECONDS", 0.05)
    masker = with_pattern(r"a(?:.*b)?")
    with patterns.limit_time():
        masker.mask("a" * 2**18)
        started = time.monotonic()
        rest = [masker.mask("xxx" * 2**10 + "a" * 2**14) for _ in range(100)]
        assert time.monotonic() - started < 2
        assert set(rest) == {"[own]"}
        assert masker.mask("x" * 200) == "x" * 200
        assert masker.mask("say a") == "s[own]y [own]"
    # The next request has time again.
    assert masker.mask("x" * 200 + "a") == "x" * 200 + "[own]"
