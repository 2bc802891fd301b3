"""Several clusters: the same declarations at work in each, and the fence of home around them."""
