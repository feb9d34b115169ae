-- What threads share: what each role of each client has done, and the queue between inserts and deletes.

local ffi = require("ffi")
local shared = require("shared_memory")

ffi.cdef [[
typedef struct {
   stepgrid_role insert, remove, query;
   stepgrid_semaphore filled, free;
   double oldest;            /* no row has a smaller id */
   double ordinal;           /* of the next row */
   double deleted;
   double resyncs, resync_seconds;
   int inserted;             /* all rows are in: nothing follows in the queue */
} stepgrid_client;
typedef struct {
   stepgrid_run run;
   double seed;              /* of what rows hold */
   double data_least, data_most;
   stepgrid_client clients[?];
} stepgrid_block;
]]

local STRUCT = "stepgrid_block"
local BATCHES = 8  -- that wait to be deleted
local memory = {}

function memory.make(clients)
   local block = shared.make(STRUCT, clients)
   for client = 0, clients - 1 do
      ffi.C.sem_init(block.clients[client].filled, 1, 0)
      ffi.C.sem_init(block.clients[client].free, 1, BATCHES)
   end
   return block
end

function memory.block()
   return shared.block(STRUCT)
end

local first = 0  -- client that may still insert

-- Whether a client's rows are not all in. Each has a mark of its own: no two threads write to one place.
function memory.inserting(block)
   while first < sysbench.opt.clients and block.clients[first].inserted ~= 0 do
      first = first + 1
   end
   return first < sysbench.opt.clients
end

-- False when the step has failed: nobody will ever post.
function memory.wait(semaphore, block)
   repeat
      if block.run.failed ~= 0 then return false end
   until shared.wait(semaphore, 1)
   return true
end

return memory
