"""What everything about objects stands on: models, codec, errors, schemas, clocks."""
