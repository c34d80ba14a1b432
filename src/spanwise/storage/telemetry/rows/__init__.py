"""What all readers and writers know of stored rows: where they are, how values are decoded, and
which spans are shown and counted.

Rows of a trace are found by primary key, through the hours in `trace_bounds`. Of two rows of one
span, the one with the higher version counts.
"""
