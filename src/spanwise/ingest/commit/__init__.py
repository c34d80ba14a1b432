"""Group commit: queue, journal, application to the engine, visibility.

A record is acknowledged only after the journal has it on disk; records are applied in journal
order; whatever was acknowledged survives `kill -9`.
"""
