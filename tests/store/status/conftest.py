from tests.run.conftest import gone as gone
