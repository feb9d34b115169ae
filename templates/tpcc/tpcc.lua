-- A workload derived from TPC-C: nine tables of wholesale orders, loaded, then used by five transactions, and checked.

-- A transaction is longer than what LuaJIT compiles as one by its defaults.
jit.opt.start("-loop", "maxrecord=6000", "maxirconst=2000", "maxsnap=2000", "maxtrace=4000", "maxside=400",
   "maxmcode=8192", "sizemcode=512")

-- What the driver says of a step on the command line, beside sysbench's own options.
sysbench.cmdline.options = {
   action = {"load, run or check", "load"},
   clients = {"clients that load, or run transactions", 1},
   warehouses = {"warehouses of the database", 1},
   items = {"items, each in the stock of each warehouse", 100000},
   customers = {"customers of a district, of which a warehouse has ten; as many orders are loaded", 3000},
   seconds = {"how long transactions are run", 0},
   mix = {"percent of the transactions, as new_order:45,payment:43", ""},
   think = {"wait for keying before and for thinking after each transaction", false},
   storage_engine = {"of the tables", ""},
   table_options = {"what follows a CREATE TABLE", ""},
   anew = {"tables of these names may be there: they go first", false},
}

require("client_threads")({load = "loading", run = "running", check = "checking"})
