-- Transactions of several statements: ten rows by id, ranges, and writes, each group on a table of its own. What a
-- workload names is in it, always in this order.

local workload, ids, statements, texts, row =
   require("workload"), require("ids"), require("statements"), require("texts"), require("row")
local random, execute = math.random, statements.execute

local RANGES = {
   {"simple", "SELECT c FROM sbtest%d WHERE id BETWEEN ? AND ?"},
   {"sum", "SELECT SUM(k) FROM sbtest%d WHERE id BETWEEN ? AND ?"},
   {"order", "SELECT c FROM sbtest%d WHERE id BETWEEN ? AND ? ORDER BY c"},
   {"distinct", "SELECT DISTINCT c FROM sbtest%d WHERE id BETWEEN ? AND ? ORDER BY c"},
}
local POINTS = 10

local open = false  -- of this thread
local parts = {}

local function points(tables, choose)
   local number = statements.numbers(1)
   local id, queries = number.buffer, statements.each_table("SELECT c FROM sbtest%d WHERE id = ?", number)
   return function()
      local query = queries[random(tables)]
      for _ = 1, POINTS do
         id[0] = choose()
         execute(query)
      end
   end
end

local function range(sql, tables, choose)
   local numbers, rest = statements.numbers(2), sysbench.opt.range_size - 1
   local ends, queries = numbers.buffer, statements.each_table(sql, numbers)
   return function()
      local first = choose()
      ends[0], ends[1] = first, first + rest
      execute(queries[random(tables)])
   end
end

local function writes(tables, choose)
   local number, c = statements.numbers(1), texts.buffer(texts.C)
   local id, text = number.buffer, statements.text(c, texts.length(texts.C))
   local values, fill = row.new()
   local index = statements.each_table("UPDATE sbtest%d SET k = k + 1 WHERE id = ?", number)
   local nonindex = statements.each_table("UPDATE sbtest%d SET c = ? WHERE id = ?", text, number)
   local delete = statements.each_table("DELETE FROM sbtest%d WHERE id = ?", number)
   local insert = "INSERT INTO sbtest%d (id, k, c, pad) VALUES (?, ?, ?, ?)"
   local inserts = statements.each_table(insert, number, unpack(values))
   return function()
      id[0] = choose()
      execute(index[random(tables)])
      id[0] = choose()
      texts.fill(c, texts.C)
      execute(nonindex[random(tables)])
      id[0] = choose()
      fill()
      local at = random(tables)
      execute(delete[at])
      execute(inserts[at])
   end
end

local function made(named)
   local tables, choose = sysbench.opt.tables, ids.chooser()
   if named.points then parts[#parts + 1] = points(tables, choose) end
   for _, each in ipairs(RANGES) do
      if named[each[1]] then parts[#parts + 1] = range(each[2], tables, choose) end
   end
   if named.writes then parts[#parts + 1] = writes(tables, choose) end
end

-- Some servers roll back the statement alone: what went before it must not be committed by the next BEGIN.
function sysbench.hooks.before_restart_event()
   if open and statements.server == "mysql" then
      open = false
      statements.connection:query("ROLLBACK")
   end
end

return function(...)
   local named, begin, commit = {}, nil, nil
   for _, name in ipairs({...}) do
      named[name] = true
   end

   function workload.prepare()
      begin, commit = statements.one("BEGIN"), statements.one("COMMIT")
      made(named)
   end

   function event()
      execute(begin)
      open = true
      for index = 1, #parts do
         parts[index]()
      end
      execute(commit)
      open = false
   end
end
