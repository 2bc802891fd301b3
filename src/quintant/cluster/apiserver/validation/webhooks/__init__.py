"""What is wrong with webhook configurations: clients, rules, match conditions."""
