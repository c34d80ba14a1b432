"""Pure arithmetic: no stores, no clock, no HTTP."""
