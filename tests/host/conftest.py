from tests.run.conftest import checkout as checkout
from tests.run.conftest import gone as gone
from tests.run.conftest import stage as stage
from tests.run.conftest import step as step
from tests.run.conftest import until as until
