"""The body that changes alert rules and who is notified, of an agent or of a workspace."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from spanwise.api.requests.fields import Email
from spanwise.model.alerts import (
    MAX_CHANNELS,
    MAX_EMAILS,
    MAX_RULES,
    MAX_WEBHOOKS,
    AlertRule,
    ChannelType,
)
from spanwise.model.api_model import ApiModel, without_nul
from spanwise.model.events import Channel


class NewNotifyWebhook(ApiModel):
    url: Annotated[str, Field(max_length=2000)]


class ChannelChange(ApiModel):
    """A channel. With the `id` of a saved one, its secret is kept if it is missing or masked."""

    id: Annotated[str, Field(max_length=40)] | None = None
    type: ChannelType
    url: Annotated[str, Field(max_length=2000), AfterValidator(without_nul)] | None = None
    routing_key: Annotated[str, Field(max_length=200), AfterValidator(without_nul)] | None = None


class Receiver(ApiModel):
    """Who gets a test notification. With the `id` of a saved channel, its secret may be missing."""

    type: Channel
    id: Annotated[str, Field(max_length=40)] | None = None
    url: Annotated[str, Field(max_length=2000), AfterValidator(without_nul)] | None = None
    routing_key: Annotated[str, Field(max_length=200), AfterValidator(without_nul)] | None = None
    email: Email | None = None


class NotifyChange(ApiModel):
    emails: Annotated[list[Email], Field(max_length=MAX_EMAILS)] = Field(default=[])
    webhooks: Annotated[list[NewNotifyWebhook], Field(max_length=MAX_WEBHOOKS)] = Field(default=[])
    channels: Annotated[list[ChannelChange], Field(max_length=MAX_CHANNELS)] = Field(default=[])


class AlertSettingsChange(ApiModel):
    enabled: Annotated[bool, Field(strict=True)] = True
    rules: Annotated[list[AlertRule], Field(max_length=MAX_RULES)] = Field(default=[])
    notify: NotifyChange = NotifyChange()

    @property
    def given_rules(self) -> list[AlertRule] | None:
        return self.rules if "rules" in self.model_fields_set else None

    def to_changes(self) -> dict[str, Any]:
        """Return the given parts; rules are complete."""
        changes = self.model_dump(by_alias=False, exclude_unset=True)
        if "rules" in changes:
            changes["rules"] = [rule.model_dump(by_alias=False) for rule in self.rules]
        return changes
