from tests.legacy.conftest import samples as samples
