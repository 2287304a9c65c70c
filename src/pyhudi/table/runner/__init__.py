"""The service runner: keeps one or many tables in order by a policy, each service when it is needed."""
