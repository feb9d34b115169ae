-- The insert benchmark: what a step does.

require("options")
require("client_threads")({load = "writing", index = "indexing", insert = "writing", query = "writing",
   check = "checking"})
