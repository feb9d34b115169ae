"""Charts as SVG, drawn without a library. They show what a report holds, and never compute a verdict."""
