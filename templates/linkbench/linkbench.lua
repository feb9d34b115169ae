-- LinkBench: a social graph in three tables, loaded, then asked by a mix of ten operations, and checked.

require("options")
require("client_threads")({load = "loading", request = "requesting", check = "checking"})
