"""What every room needs: Status, names, selectors, request info, users."""
