"""OTLP metrics: their data points as stored, and the increases and quantiles computed at read.

Points are stored as they were sent. Cumulative ones become increases when they are read, so points
may arrive late, repeatedly and in any order.
"""
