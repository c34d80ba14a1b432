"""Alerts as users handle them, their rules and the backtest of a rule."""
