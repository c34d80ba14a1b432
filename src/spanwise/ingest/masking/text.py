"""Masks one text with detectors and patterns."""

from collections.abc import Callable, Sequence
from typing import Any

import re2

from spanwise.ingest.masking import emails, numbers, phones, secrets
from spanwise.ingest.masking.patterns import SHORT_CHARACTERS, compile_patterns
from spanwise.model.masking import Detector, MaskingRules, re2_options

# Each detector has patterns that match wherever it could find something, and functions that replace
# it. The order matters: secrets contain digits, and a card number could be a phone number.
_FINDERS: dict[Detector, tuple[tuple[str, Callable[[str], str]], ...]] = {
    Detector.SECRET: secrets.FINDERS,
    Detector.EMAIL: ((emails.HINT, emails.mask_emails),),
    Detector.IBAN: ((numbers.IBAN_HINT, numbers.mask_ibans),),
    Detector.CREDIT_CARD: ((numbers.CARD_HINT, numbers.mask_cards),),
    # IPv6 first, because it may contain IPv4.
    Detector.IP_ADDRESS: (
        (numbers.IPV6_HINT, numbers.mask_ipv6),
        (numbers.IPV4_HINT, numbers.mask_ipv4),
    ),
    Detector.PHONE: ((phones.HINT, phones.mask_phones),),
}

# Names, models and ids repeat from span to span; a lookup takes a twentieth of a scan.
_CACHED_TEXTS = 8192


Mask = Callable[[str], str]


class TextMasker:
    def __init__(self, rules: MaskingRules) -> None:
        # Own patterns come first: they were written for the whole text.
        finders: list[tuple[str, Mask]] = [
            (own.regex, own.mask) for own in compile_patterns(rules.patterns)
        ]
        for detector, of_detector in _FINDERS.items():
            if detector in rules.detectors:
                finders += of_detector
        self._masks = [mask for _, mask in finders]
        self._hints = _compile_hints([hint for hint, _ in finders])
        self._cache: dict[str, str] = {}

    def mask(self, text: str) -> str:
        """Return the masked text; the same object when there is nothing to mask."""
        if not self._masks:
            return text
        if len(text) > SHORT_CHARACTERS:
            return self._mask(text)
        masked = self._cache.get(text)
        if masked is None:
            if len(self._cache) >= _CACHED_TEXTS:
                self._cache.clear()
            masked = self._cache[text] = self._mask(text)
        return masked

    def _mask(self, text: str) -> str:
        # One pass says which detectors to run: for most texts, none.
        candidates = self._hints.Match(text)
        if candidates == _NOTHING:
            return text
        if candidates is None:
            candidates = range(1, len(self._masks) + 1)
        for index in sorted(candidates):
            if index:
                text = self._masks[index - 1](text)
        return text


# The first hint matches every text. Without it RE2 ran out of memory, and any hint may match.
_NOTHING = [0]


def _compile_hints(hints: Sequence[str]) -> Any:  # noqa: ANN401 -- re2 has no types
    compiled = re2.Set.SearchSet(re2_options())
    for hint in ("", *hints):
        compiled.Add(hint)
    compiled.Compile()
    return compiled
