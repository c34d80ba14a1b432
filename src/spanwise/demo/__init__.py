"""Demo data: five simulated agents with a month of history and live traffic."""
