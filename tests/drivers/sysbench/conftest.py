from tests.importers.conftest import samples as samples
