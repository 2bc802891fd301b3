"""apimachinery: Status and field errors, names, selectors, quantities, request info, users."""
