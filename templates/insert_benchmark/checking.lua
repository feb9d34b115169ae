-- The step that checks that the rows of every table are those that its clients say: how many there are, which are the
-- first and the last, and a checksum that does not look at their order. The server reads its table once.

local ffi = require("ffi")
require("clock")
local memory, sender, rows, progress, md5, report = require("client_memory"), require("sender"), require("rows"),
   require("progress"), require("md5"), require("client_report")
local WORD = 2 ^ 32
local COLUMNS = "dateandtime,cashregisterid,customerid,productid,price,data"
local HASH = {
   mysql = "CAST(CONV(LEFT(MD5(CONCAT_WS(',',%s)),8),16,10) AS UNSIGNED)",
   postgres = "('x'||left(md5(concat_ws(',',%s)),8))::bit(32)::bigint",
}
local checking = {}
local connection, postgres, hash

function checking.init()
   memory.make(1)
end

function checking.thread_init()
   connection, postgres = sender.connect()
   hash = HASH[postgres and "postgres" or "mysql"]:format(COLUMNS)
end

local function fail(...)
   error(string.format(...), 0)
end

-- What is there.
local function found(name)
   local sql = "SELECT count(*), min(transactionid), max(transactionid), sum(%s) %% 4294967296 FROM %s"
   local row = sender.rows(connection, sql:format(hash, name))[1]
   return {count = tonumber(row[1]), min = row[2], max = row[3], sum = tonumber(row[4] or 0)}
end

local function hash_of(name, id)
   return tonumber(sender.rows(connection, ("SELECT %s FROM %s WHERE transactionid = %s"):format(hash, name, id))[1][1])
end

-- What the rows from one ordinal up to another must add up to.
local function expected(client, first, last)
   local write = rows.writer(client.seed, client.client, client.data_length_min, client.data_length_max)
   local values, sum = rows.values(write), 0
   for ordinal = first, last - 1 do
      sum = (sum + md5(values(ordinal))) % WORD
   end
   return sum, function(ordinal) return md5(values(ordinal)) end
end

local function ended(clients, name)
   for _, client in ipairs(clients) do
      if client.writing ~= 0 then
         fail("%s: the step that wrote it last did not end: client %d had %.0f rows inserted and %.0f deleted before it",
            name, client.client, client.inserted, client.deleted)
      end
   end
end

local function total(clients, what)
   local sum = 0
   for _, client in ipairs(clients) do
      sum = sum + client[what]
   end
   return sum
end

-- Of a table of one client, whose rows are deleted in their order.
local function in_order(name, there, client)
   local sum, of = expected(client, client.deleted, client.inserted)
   if there.count > 0 and hash_of(name, there.min) ~= of(client.deleted) then
      fail("%s: the row of the smallest id, %s, is not the oldest that should be there", name, there.min)
   end
   if there.count > 0 and hash_of(name, there.max) ~= of(client.inserted - 1) then
      fail("%s: the row of the largest id, %s, is not the one that was inserted last", name, there.max)
   end
   return sum
end

-- The checksum of what should be there; nothing where several clients deleted from one table.
local function checksum(name, there, clients)
   if #clients == 1 then return in_order(name, there, clients[1]) end
   if total(clients, "deleted") > 0 then return nil end
   local sum = 0
   for _, client in ipairs(clients) do
      sum = (sum + expected(client, 0, client.inserted)) % WORD
   end
   return sum
end

local function checked(clients, sum)
   if #clients == 1 then return "count, min, max, checksum" end
   return sum and "count, checksum: several clients inserted into it" or "count: several clients deleted from it"
end

local LINE = '{"report": "check", "table": %d, "rows": %.0f, "min": %s, "max": %s, "checksum": %.0f, "checked": "%s"}\n'

local function check(number, clients)
   local name = ("pi%d"):format(number)
   ended(clients, name)
   local there, should = found(name), total(clients, "inserted") - total(clients, "deleted")
   if there.count ~= should then
      fail("%s has %.0f rows: %.0f were inserted and not deleted", name, there.count, should)
   end
   local sum = checksum(name, there, clients)
   if sum and sum ~= there.sum then
      fail("%s: the checksum of its %.0f rows is %.0f: it should be %.0f", name, there.count, there.sum, sum)
   end
   report.write(LINE:format(number, there.count, there.min or "null", there.max or "null", there.sum,
      checked(clients, sum)))
end

function checking.event()
   local tables, order = {}, {}
   for _, client in ipairs(progress.read(connection)) do
      local number = client.table_number
      if not tables[number] then tables[number], order[#order + 1] = {}, number end
      table.insert(tables[number], client)
   end
   if #order == 0 then fail("no step has inserted anything yet") end
   for _, number in ipairs(order) do
      check(number, tables[number])
   end
   return true
end

function checking.done() end

return checking
