-- What threads share: what graph it is, and what each client has done, by operation.

local shared = require("shared_memory")

require("ffi").cdef [[
typedef struct {
   stepgrid_role operations[10];
   double seconds[10];       /* of the requests, by operation: for their means */
   stepgrid_role load;
   double nodes, links, counts;   /* rows that were loaded; nodes also those that requests added */
   double deleted;           /* nodes */
   double history;           /* lists that continued an earlier one */
   int finished;
} stepgrid_graph_client;
typedef struct {
   stepgrid_run run;
   double ids, seed, link_types;
   double links, added, deleted;  /* before this step */
   stepgrid_graph_client clients[?];
} stepgrid_graph;
]]

local STRUCT = "stepgrid_graph"
local memory = {
   OPERATIONS = {"addlink", "deletelink", "updatelink", "countlink", "getlink", "getlinklist", "getnode", "addnode",
      "updatenode", "deletenode"},
}

function memory.make(clients)
   return shared.make(STRUCT, clients)
end

function memory.block()
   return shared.block(STRUCT)
end

return memory
