-- Memory that all threads share: what each client has done, by operation.
--
-- Each thread of sysbench has a Lua of its own. The main one makes the memory, and its address is in the environment.

local ffi = require("ffi")
require("shared_memory")  -- what a role is
local C = ffi.C

ffi.cdef [[
typedef struct {
   stepgrid_role operations[10];
   double seconds[10];       /* of the requests, by operation: for their means */
   stepgrid_role load;
   double nodes, links, counts;   /* rows that were loaded; nodes also those that requests added */
   double deleted;           /* nodes */
   double reported, retries_reported;
   double history;           /* lists that continued an earlier one */
   int finished;
} stepgrid_graph_client;
typedef struct {
   double reported_until;    /* second of the last report */
   double ids, seed, link_types, link_size, node_size;
   double links, added, deleted;  /* before this step */
   int failed;
   stepgrid_graph_client clients[?];
} stepgrid_graph;
]]

local READ_WRITE, SHARED_ANONYMOUS = 3, 0x21
local NAME = "STEPGRID_GRAPH_MEMORY"
local memory = {
   OPERATIONS = {"addlink", "deletelink", "updatelink", "countlink", "getlink", "getlinklist", "getnode", "addnode",
      "updatenode", "deletenode"},
}

function memory.make(clients)
   local made = C.mmap(nil, ffi.sizeof("stepgrid_graph", clients), READ_WRITE, SHARED_ANONYMOUS, -1, 0)
   assert(ffi.cast("intptr_t", made) ~= -1, "no memory for the counters of the clients")
   C.setenv(NAME, string.format("%.0f", tonumber(ffi.cast("intptr_t", made))), 1)
   return memory.block()
end

function memory.block()
   local address = assert(tonumber(os.getenv(NAME)), "the counters of the clients are not there yet")
   return ffi.cast("stepgrid_graph *", ffi.cast("intptr_t", address))
end

return memory
