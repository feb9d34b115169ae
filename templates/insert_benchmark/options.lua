-- What the driver says of a step on the command line, beside sysbench's own options.

sysbench.cmdline.options = {
   action = {"load, index, insert, query or check", "load"},
   roles = {"of each client, a thread for each: insert, delete, query", "insert"},
   clients = {"clients that insert", 1},
   tables = {"tables: client number N has table N modulo tables", 1},
   rows = {"rows that each client inserts", 0},
   rows_per_commit = {"rows of an INSERT, which commits by itself", 100},
   insert_rate = {"rows that each client inserts in a second; 0: as many as it can", 0},
   deletes = {"as many rows are deleted, oldest first, as are inserted", false},
   query = {"range or point", "range"},
   rows_per_query = {"rows of a range, points of a list", 10},
   indexes = {"secondary indexes, of three shapes", 3},
   data_length_min = {"characters of the column data, at least", 10},
   data_length_max = {"characters of the column data, at most", 20},
   partitions = {"partitions of a table, by transactionid; 0: none", 0},
   partition_rows = {"rows of a partition", 0},
   storage_engine = {"of the tables", ""},
   table_options = {"what follows a CREATE TABLE", ""},
   anew = {"tables of these names may be there: they go first", false},
   session = {"statements that each connection begins with, separated by semicolons", ""},
   seconds = {"when it ends by the clock; 0: when its rows are in", 0},
}
