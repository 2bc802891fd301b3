"""Values that pass between observe, plan and act: views, links, placements, moves."""
