from tests.importers.conftest import published as published
from tests.importers.conftest import samples as samples
