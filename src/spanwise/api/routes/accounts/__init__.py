"""Routes for sign-in, users, API keys and administration."""
