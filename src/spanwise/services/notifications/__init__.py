"""Events, e-mail and webhooks.

A notification enters the outbox in the transaction of the change it reports, so none is lost or
sent for a change that was rolled back.
"""
