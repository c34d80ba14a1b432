"""The composition root: opens stores, builds services, starts jobs and the HTTP application."""
