-- What threads share: what each client has done, by transaction.

local shared = require("shared_memory")

require("ffi").cdef [[
typedef struct {
   stepgrid_role operations[5];
   double seconds[5];        /* of the transactions: for their means */
   stepgrid_role load;
   double rolled_back;       /* new orders */
   double skipped;           /* districts without an order to deliver */
   int finished;
} stepgrid_terminal;
typedef struct {
   stepgrid_run run;
   stepgrid_terminal clients[?];
} stepgrid_terminals;
]]

local STRUCT = "stepgrid_terminals"
return {
   OPERATIONS = {"new_order", "payment", "order_status", "delivery", "stock_level"},
   make = function(clients) return shared.make(STRUCT, clients) end,
   block = function() return shared.block(STRUCT) end,
}
