"""Compares Spanwise with other open source products: the same spans, the same questions."""
