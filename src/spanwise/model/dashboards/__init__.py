"""Analytics queries and comparisons, and the views and dashboards that keep queries."""
