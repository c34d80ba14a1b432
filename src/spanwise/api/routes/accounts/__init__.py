"""Routes for sign-in, users, API keys and administration.

Only a signed-in user may manage accounts and keys: a leaked key cannot create keys. Requests
for a mail get the same response whether or not the account exists.
"""
