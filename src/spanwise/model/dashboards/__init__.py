"""Analytics queries, and the views and dashboards that keep them."""
