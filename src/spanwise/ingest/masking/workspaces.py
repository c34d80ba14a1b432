"""Holds the compiled masking rules of all workspaces in memory."""

from collections.abc import Mapping

from spanwise.ingest.masking.masker import Masker
from spanwise.model.masking import MaskingMode, MaskingRules


class WorkspaceMasking:
    """A workspace without rules, or with masking off, has no masker."""

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
