-- What a workload may be told on the command line, beside sysbench's own options.

sysbench.cmdline.options = {
   tables = {"tables", 1},
   table_size = {"rows of each table", 10000},
   range_size = {"rows of a range, points of a list", 100},
   distribution = {"of the ids: uniform, zipfian, gaussian, pareto, special", "uniform"},
   covered = {"the index alone answers the query", true},
   index = {"pk or si: the index that is asked", "pk"},
   primary_key = {"id is the primary key, not the column of an ordinary index", true},
   batch = {"rows of a statement that loads", 1000},
   storage_engine = {"of the tables", ""},
   table_options = {"what follows a CREATE TABLE", ""},
}
