"""Masks what a workspace sends, by its rules; the compiled rules are held in memory."""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from spanwise.ingest.masking.messages import MessageMasker
from spanwise.ingest.masking.text import TextMasker
from spanwise.ingest.records.record import Kind
from spanwise.ingest.rest_bodies import NewSignal
from spanwise.model.masking import MaskingMode, MaskingRules

_LOOP_BYTES = 65_536
# The time of a pattern may grow with the square of the size.
_LOOP_BYTES_WITH_PATTERNS = 4096


class Masker:
    """Compiled rules. May be used by several threads."""

    def __init__(self, rules: MaskingRules) -> None:
        self.rules = rules
        self._texts = TextMasker(rules)
        self.messages = MessageMasker(rules, self._texts)
        self._exports: dict[Kind, Any] = {
            Kind.TRACES: self.messages.mask_traces,
            Kind.LOGS: self.messages.mask_logs,
            Kind.METRICS: self.messages.mask_metrics,
        }

    @property
    def loop_bytes(self) -> int:
        """The size up to which a body may be masked on the event loop."""
        return _LOOP_BYTES_WITH_PATTERNS if self.rules.patterns else _LOOP_BYTES

    def mask_text(self, text: str) -> str:
        return self._texts.mask(text)

    def mask_export(self, kind: Kind, request: Any) -> None:  # noqa: ANN401 -- an OTLP request
        """Mask a decoded OTLP request in place."""
        # They are not known here, so they cannot be masked.
        request.DiscardUnknownFields()
        self._exports[kind](request)

    def mask_signal(self, signal: NewSignal) -> NewSignal:
        texts = {
            name: self.mask_text(text)
            for name in ("agent_id", "session_id", "user_id", "experiment_id", "variant")
            if (text := getattr(signal, name))
        }
        is_metadata_only = self.rules.mode is MaskingMode.METADATA_ONLY
        return signal.model_copy(
            update={
                **texts,
                "id": self.mask_id(signal.id) if signal.id else None,
                "comment": None if is_metadata_only else self.mask_json(signal.comment),
                "metadata": {} if is_metadata_only else self.mask_json(signal.metadata),
            }
        )

    def mask_id(self, chosen: str) -> str:
        """Replace an id that would be masked by its hash: a masked one would not be unique."""
        if self.mask_text(chosen) == chosen:
            return chosen
        return f"sig_{blake2b(chosen.encode(), digest_size=16).hexdigest()}"

    def mask_json(self, value: Any) -> Any:  # noqa: ANN401 -- any JSON
        match value:
            case str():
                return self.mask_text(value)
            case list():
                return [self.mask_json(item) for item in value]
            case dict():
                return {self.mask_text(k): self.mask_json(v) for k, v in value.items()}
        return value


class WorkspaceMasking:
    """The maskers of all workspaces. One without rules, or with masking off, has none."""

    def __init__(self) -> None:
        self._maskers: dict[str, Masker] = {}

    def find(self, workspace: str) -> Masker | None:
        return self._maskers.get(workspace)

    def set(self, workspace: str, rules: MaskingRules) -> None:
        if rules.mode is MaskingMode.OFF:
            self._maskers.pop(workspace, None)
        else:
            self._maskers[workspace] = self._compile(workspace, rules)

    def replace_all(self, rules: Mapping[str, MaskingRules]) -> None:
        """Replace the rules of all workspaces. Unchanged ones are not compiled again."""
        self._maskers = {
            workspace: self._compile(workspace, own_rules)
            for workspace, own_rules in rules.items()
            if own_rules.mode is not MaskingMode.OFF
        }

    def _compile(self, workspace: str, rules: MaskingRules) -> Masker:
        current = self._maskers.get(workspace)
        return current if current is not None and current.rules == rules else Masker(rules)
