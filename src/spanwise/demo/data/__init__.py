"""The demo's fiction as TOML: agents and their conversations, developers, rules, dashboards."""

import tomllib
from importlib.resources import files
from typing import Self

from pydantic import BaseModel, ConfigDict


class FromData(BaseModel):
    """The shape of a data file, or of a part of it; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def read(cls, name: str) -> Self:
        text = files(__name__).joinpath(f"{name}.toml").read_text("utf-8")
        return cls.model_validate(tomllib.loads(text))
