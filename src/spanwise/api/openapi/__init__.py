"""The OpenAPI document and the interactive API page.

The document describes every route, its errors, and the scopes that a key needs. It is committed as
`web/openapi.json`; operation ids are the names of the route functions.
"""
