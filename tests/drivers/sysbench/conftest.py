from tests.drivers.sysbench.parser.conftest import samples as samples
