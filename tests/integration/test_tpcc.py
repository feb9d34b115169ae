"""tpcc on real servers: its tables, its statements, what the check finds, waiting times, conflicts."""

import pytest

from tests.integration.client_steps import server_folder
from tests.integration.sysbench import bench
from tests.integration.tpcc import SMALL, checked, run, start

KINDS = ["mariadb-innodb", "postgres-heap"]
AT_NIGHT = [pytest.param(kind, marks=pytest.mark.nightly) for kind in ("mariadb-rocksdb", "mysql-innodb")]
TRANSACTIONS = ("new_order", "payment", "order_status", "delivery", "stock_level")


@pytest.fixture(scope="module", params=[*KINDS, *AT_NIGHT])
def server(server_builds, request):
    engine, storage = request.param.split("-")
    with server_folder() as folder, bench(server_builds, engine, storage, folder) as found:
        yield found


@pytest.fixture
def loaded(server):
    run(server, "load", loaders=2, anew=True, **SMALL)
    return server


def test_the_tables_of_a_load(loaded):
    """However many clients load, in the same rows."""
    sums = "SELECT SUM(c_id * LENGTH(c_data)) FROM customer", "SELECT SUM(ol_i_id * ol_amount) FROM order_line"
    before = [loaded.number(sql) for sql in sums]
    step = run(loaded, "load", loaders=1, anew=True, **SMALL)
    assert [loaded.number(sql) for sql in sums] == before
    counts = {name: loaded.number(f"SELECT COUNT(*) FROM {name}") for name in
              ("item", "warehouse", "stock", "district", "customer", "history", "orders", "new_order")}  # fmt: skip
    assert counts == {"item": 200, "warehouse": 2, "stock": 400, "district": 20, "customer": 1200, "history": 1200,
                      "orders": 1200, "new_order": 360}  # fmt: skip
    lines = loaded.number("SELECT COUNT(*) FROM order_line")
    assert step.figures.metrics["operations"] == sum(counts.values()) + lines
    assert 0 < loaded.number("SELECT COUNT(*) FROM item WHERE i_data LIKE '%ORIGINAL%'") < 50
    assert (
        loaded.number("SELECT MIN(c) FROM (SELECT COUNT(DISTINCT c_last) AS c FROM customer GROUP BY c_d_id) a") == 60
    )
    assert checked(loaded) == {"report": "check", "conditions": 12, "orders": 1200}


def test_transactions_leave_consistent_tables(loaded):
    step = run(loaded, "run", clients=3, duration=2.0, **SMALL)
    found = step.figures.metrics
    assert checked(loaded)["orders"] - 1200 == pytest.approx(found["nopm"] * found["seconds"] / 60)
    done = {line["operation"]: 0 for line in step.lines if line["report"] == "role"}
    for line in (line for line in step.lines if line["report"] == "role"):
        done[line["operation"]] += line["count"]
    assert set(done) == set(TRANSACTIONS)
    assert loaded.number("SELECT COUNT(*) FROM history") == 1200 + done["payment"]
    delivered = loaded.number("SELECT SUM(c_delivery_cnt) FROM customer")
    assert delivered == 10 * done["delivery"] - found["skipped_deliveries"]
    assert found["new_order_p50_us"] <= found["new_order_max_us"] * 1.03
    remarks = "SELECT COUNT(*) FROM customer WHERE c_data LIKE '_____c __d ______w __d ______w _______ %'"
    assert loaded.number(remarks) > 0
    assert loaded.number("SELECT COUNT(*) FROM history WHERE h_data LIKE '%    %'") > 0
    assert loaded.number("SELECT COUNT(*) FROM order_line WHERE LENGTH(TRIM(ol_dist_info)) <> 24") == 0


@pytest.mark.parametrize(
    ("number", "sql", "said"),
    [
        (1, "UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 2",
         "warehouse 2: w_ytd is 6001.00, the sum of d_ytd 6000.00"),
        (2, "UPDATE district SET d_next_o_id = 63 WHERE d_w_id = 1 AND d_id = 4",
         "warehouse 1, district 4: d_next_o_id - 1 is 62, the newest order 60"),
        (3, "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 4 AND no_o_id = 50",
         "warehouse 1, district 4: new orders from 43 to 60, and there are 17"),
        (4, "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number) VALUES (1, 4, 60, 99)",
         "warehouse 1, district 4: the orders say"),
        (5, "UPDATE orders SET o_carrier_id = 1 WHERE o_w_id = 1 AND o_d_id = 4 AND o_id = 60",
         "warehouse 1, district 4, order 60: carrier 1, its new order 60"),
        (8, "DELETE FROM history WHERE h_w_id = 2", "warehouse 2: w_ytd is 6000.00, the history has none"),
        (10, "UPDATE customer SET c_balance = -9 WHERE c_w_id = 1 AND c_d_id = 4 AND c_id = 7",
         "warehouse 1, district 4, customer 7: c_balance is -9.00, lines minus payments -10.00"),
        (11, "UPDATE customer SET c_delivery_cnt = 1 WHERE c_w_id = 1 AND c_d_id = 4 AND c_id = 7",
         "warehouse 1, district 4: 43 orders and new orders loaded and delivered, and there are 42"),
        (12, "UPDATE customer SET c_ytd_payment = 9 WHERE c_w_id = 1 AND c_d_id = 4 AND c_id = 7",
         "warehouse 1, district 4, customer 7: c_balance and c_ytd_payment are -1.00, delivered lines 0"),
    ],
)  # fmt: skip
def test_each_condition_is_checked(loaded, number, sql, said):
    loaded.connection.query(sql)
    step = start(loaded, "check")
    assert step.ended() == 1
    assert (step.complaint or "").startswith(f"tpcc failed: condition {number}: {said}")


def test_keying_and_thinking(loaded):
    """A client that waits 2 s before an order status and some seconds after it does less than two in 4 s."""
    step = run(loaded, "run", clients=2, duration=4.0, think=True, mix={"order_status": 100.0}, **SMALL)
    assert 2 <= step.figures.metrics["operations"] <= 4
    assert step.figures.metrics["seconds"] < 5


def test_transactions_in_each_others_way(loaded):
    """Deadlocks and serialization failures are made again, and counted; nothing of them is left."""
    if loaded.postgres:
        loaded.connection.query("ALTER DATABASE stepgrid SET default_transaction_isolation = 'repeatable read'")
    step = run(loaded, "run", clients=6, duration=2.0, **SMALL)
    if loaded.postgres:
        loaded.connection.query("ALTER DATABASE stepgrid RESET default_transaction_isolation")
        assert step.figures.metrics["retries"] > 0
    checked(loaded)
