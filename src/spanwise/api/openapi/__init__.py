"""The OpenAPI document and the interactive API page."""
