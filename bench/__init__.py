"""The benchmark: the real service, a load client in a process of its own, and the bare engine."""
