"""HTTP: routes, authentication, the envelope, errors, pagination and rate limits."""
