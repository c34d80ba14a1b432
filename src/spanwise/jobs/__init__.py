"""Background jobs: alert evaluation, notifications, repricing, retention and rollup maintenance.

A failure is logged, and the job runs again. Jobs that several replicas may run at once take a
lease, claim rows in the catalog, or are safe to repeat.
"""
