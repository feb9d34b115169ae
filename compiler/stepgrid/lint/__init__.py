"""Rules of experience, which turn cells into problems; none of them changes a cell, or looks at a host or a store."""
