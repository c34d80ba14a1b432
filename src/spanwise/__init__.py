"""Spanwise: self-hosted observability and analytics for AI applications."""

from importlib.metadata import version

__version__ = version("spanwise")
