"""Records: what the journal stores, and how each kind is encoded for the engine.

`frames` holds spans, logs and metrics in protobuf, `rows` everything else in JSON. Records are
encoded without a version; the journal writer fills it in (`versions`).
"""
