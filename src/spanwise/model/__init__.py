"""Frozen nouns, time ranges, errors with codes. Imports nothing else of ours."""
