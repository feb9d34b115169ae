-- LinkBench: a social graph in three tables, loaded, then asked by a mix of ten operations, and checked.

-- What is between two requests is longer than what LuaJIT compiles as one by its defaults; what it would keep from one
-- to the next by `loop` has not enough room.
jit.opt.start("-loop", "maxrecord=6000", "maxirconst=2000", "maxsnap=2000", "maxtrace=4000", "maxside=400",
   "maxmcode=8192", "sizemcode=512")

require("options")
require("client_threads")({load = "loading", request = "requesting", check = "checking"})
