-- Memory that all threads share: what each client has done. A kind of client has a struct of its own, which begins with
-- a stepgrid_run.
--
-- Each thread of sysbench has a Lua of its own. The main one makes the memory, and its address is in the environment.

local ffi = require("ffi")
local clock = require("clock")
local C, floor = ffi.C, math.floor

ffi.cdef [[
typedef union { char bytes[32]; long alignment; } stepgrid_semaphore;  /* sem_t of 64-bit Linux */
typedef struct {
   int failed;
   double started;           /* seconds of the monotonic clock: the client, not yet its threads */
   double began;             /* the first of its threads */
   stepgrid_semaphore ended; /* posted by each thread that ends */
} stepgrid_run;
typedef struct {
   double count;             /* rows, queries or requests */
   double retries;
   double began, ended;      /* seconds of the monotonic clock */
   double longest;           /* seconds, of a statement */
   double longest_lately;    /* since the last report */
   double buckets[1024];     /* statements by the logarithm of their time */
} stepgrid_role;

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, long offset);
int setenv(const char *name, const char *value, int overwrite);
int sem_init(stepgrid_semaphore *semaphore, int shared, unsigned value);
int sem_post(stepgrid_semaphore *semaphore);
int sem_timedwait(stepgrid_semaphore *semaphore, const struct stepgrid_time *until);
int usleep(unsigned microseconds);
]]

local READ_WRITE, SHARED_ANONYMOUS = 3, 0x21
local NAME = "STEPGRID_SHARED_MEMORY"
local REALTIME = 0
local shared = {}

-- `struct` has a last member for so many clients. Zeros.
function shared.make(struct, clients)
   local memory = C.mmap(nil, ffi.sizeof(struct, clients), READ_WRITE, SHARED_ANONYMOUS, -1, 0)
   assert(ffi.cast("intptr_t", memory) ~= -1, "no memory for the counters of the clients")
   C.setenv(NAME, string.format("%.0f", tonumber(ffi.cast("intptr_t", memory))), 1)
   local run = shared.run()
   run.started = clock.seconds()
   C.sem_init(run.ended, 1, 0)
   return shared.block(struct)
end

function shared.block(struct)
   local address = assert(tonumber(os.getenv(NAME)), "the counters of the clients are not there yet")
   return ffi.cast(struct .. " *", ffi.cast("intptr_t", address))
end

function shared.run()
   return shared.block("stepgrid_run")
end

local moment = ffi.new("struct stepgrid_time")

-- False when nobody has posted for so many seconds.
function shared.wait(semaphore, seconds)
   C.clock_gettime(REALTIME, moment)
   local at = tonumber(moment.nanoseconds) / 1e9 + math.max(0, seconds)
   moment.seconds, moment.nanoseconds = moment.seconds + floor(at), (at - floor(at)) * 1e9
   return C.sem_timedwait(semaphore, moment) == 0
end

function shared.post(semaphore)
   C.sem_post(semaphore)
end

-- Waits until so many clients have `finished`; false when one has failed.
function shared.all_have_finished(block, clients)
   for number = 0, clients - 1 do
      while block.clients[number].finished == 0 do
         if block.run.failed ~= 0 then return false end
         C.usleep(1000)
      end
   end
   return true
end

return shared
