"""A made-up fleet of agents with a month of history, to look at and to try things on."""
