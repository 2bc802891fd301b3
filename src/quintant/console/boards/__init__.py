"""Who makes the rows of topics: one module per topic, and what its rows are made of."""
