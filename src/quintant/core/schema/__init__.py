"""From a Python class to its CustomResourceDefinition: types, constraints, columns."""
