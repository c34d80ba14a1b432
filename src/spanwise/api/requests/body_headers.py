"""The headers that describe a request body."""

from collections.abc import Mapping


def parse_media_type(content_type: str) -> str:
    """Return the media type in lower case, without parameters such as the charset."""
    return content_type.partition(";")[0].strip().lower()


def parse_encoding(headers: Mapping[str, str]) -> str:
    """Return the content encoding in lower case; empty when the body is not compressed."""
    return headers.get("content-encoding", "").strip().lower()
