"""What a user of PromQL has: expressions, one a line, each read by the grammar."""

# mypy: ignore-errors

import sys

import promql_parser

expressions = [line.strip() for line in sys.stdin if line.strip()]
for expression in expressions:
    promql_parser.parse(expression)
print("read", len(expressions))
