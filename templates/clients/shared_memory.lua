-- Memory that all threads share: what each role of each client has done, and the queue between inserts and deletes.
--
-- Each thread of sysbench has a Lua of its own. The main one makes the memory, and its address is in the environment.

local ffi = require("ffi")
require("clock")
local C = ffi.C

ffi.cdef [[
typedef union { char bytes[32]; long alignment; } stepgrid_semaphore;  /* sem_t of 64-bit Linux */
typedef struct {
   double count;             /* rows, or queries */
   double retries;
   double began, ended;      /* seconds of the monotonic clock */
   double longest;           /* seconds, of a statement */
   double longest_lately;    /* since the last report, as the next two */
   double reported, retries_reported;
   double resyncs, resync_seconds;
   double buckets[1024];     /* statements by the logarithm of their time */
} stepgrid_role;
typedef struct {
   stepgrid_role insert, remove, query;
   stepgrid_semaphore filled, free;
   double oldest;            /* no row has a smaller id */
   double ordinal;           /* of the next row */
   double deleted;
   int inserted;             /* all rows are in: nothing follows in the queue */
   int ended;
} stepgrid_client;
typedef struct {
   double seed;              /* of what rows hold */
   double data_least, data_most;
   double reported_until;    /* second of the last report */
   int failed;
   double started;           /* seconds of the monotonic clock: of the client, not yet of its threads */
   stepgrid_client clients[?];
} stepgrid_block;

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, long offset);
int setenv(const char *name, const char *value, int overwrite);
int sem_init(stepgrid_semaphore *semaphore, int shared, unsigned value);
int sem_post(stepgrid_semaphore *semaphore);
int sem_timedwait(stepgrid_semaphore *semaphore, const struct stepgrid_time *until);
]]

local READ_WRITE, SHARED_ANONYMOUS = 3, 0x21
local NAME = "STEPGRID_SHARED_MEMORY"
local BATCHES = 8  -- that wait to be deleted
local REALTIME = 0
local shared = {}

function shared.make(clients)
   local size = ffi.sizeof("stepgrid_block", clients)
   local memory = C.mmap(nil, size, READ_WRITE, SHARED_ANONYMOUS, -1, 0)
   assert(ffi.cast("intptr_t", memory) ~= -1, "no memory for the counters of the clients")
   C.setenv(NAME, string.format("%.0f", tonumber(ffi.cast("intptr_t", memory))), 1)
   local block = shared.block()
   for client = 0, clients - 1 do
      C.sem_init(block.clients[client].filled, 1, 0)
      C.sem_init(block.clients[client].free, 1, BATCHES)
   end
   return block
end

function shared.block()
   local address = assert(tonumber(os.getenv(NAME)), "the counters of the clients are not there yet")
   return ffi.cast("stepgrid_block *", ffi.cast("intptr_t", address))
end

local first = 0  -- client that may still insert

-- Whether a client's rows are not all in. Each has a mark of its own: no two threads write to one place.
function shared.inserting(block)
   while first < sysbench.opt.clients and block.clients[first].inserted ~= 0 do
      first = first + 1
   end
   return first < sysbench.opt.clients
end

local now = ffi.new("struct stepgrid_time")

-- False when the step has failed: nobody will ever post.
function shared.wait(semaphore, block)
   repeat
      if block.failed ~= 0 then return false end
      C.clock_gettime(REALTIME, now)
      now.seconds = now.seconds + 1
   until C.sem_timedwait(semaphore, now) == 0
   return true
end

function shared.post(semaphore)
   C.sem_post(semaphore)
end

return shared
