"""The language of specs: text becomes models, with each problem at its place; only files that a spec names are read."""

import os

# pydantic would look for plugins in every installed package, which takes long; none may have a say in what a spec means
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
