-- What a row holds, and the INSERT of many of them, written into a buffer: no Lua string for each row.

local ffi = require("ffi")
local words = require("random_words")
local bit = require("bit")
local copy, below, band, rshift = ffi.copy, words.below, bit.band, bit.rshift

local CASHREGISTERS, PRODUCTS, CUSTOMERS, PRICES = 1000, 10000, 100000, 500
local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local ROWS_A_SECOND = 1000  -- of the time that a row says
local EPOCH = 1577836800    -- 2020-01-01
local HEAD = "('2020-01-01 00:00:00',000,00000,0000,000,'"
local TIME, REGISTER, CUSTOMER, PRODUCT, PRICE = 2, 23, 27, 33, 38  -- where they begin
local rows = {CUSTOMERS = CUSTOMERS, PRODUCTS = PRODUCTS, CASHREGISTERS = CASHREGISTERS, PRICES = PRICES}

local four = ffi.new("char[?]", 40001)  -- the digits of 0000 to 9999
for number = 0, 9999 do
   copy(four + 4 * number, string.format("%04d", number), 4)
end
local letters = ffi.new("char[64]", ALPHABET)
local head = ffi.new("char[?]", #HEAD + 1, HEAD)
local second, written = -1, nil

-- So many digits, up to eight; the rest are zeros on the left.
function rows.digits(at, number, count)
   if count > 4 then
      local high = math.floor(number / 10000)
      copy(at, four + 4 * high + 8 - count, count - 4)
      copy(at + count - 4, four + 4 * (number - high * 10000), 4)
   else
      copy(at, four + 4 * number + 4 - count, count)
   end
end

local digits = rows.digits

local function time(at, ordinal)
   local now = math.floor(ordinal / ROWS_A_SECOND)
   if now ~= second then
      second, written = now, os.date("!%Y-%m-%d %H:%M:%S", EPOCH + now)
   end
   copy(at, written, 19)
end

-- Half of the text is random; its length is, too.
local function text(at, least, most, a, b, c)
   local length = least + below(c, most - least + 1)
   local random = rshift(length + 1, 1)
   local word, left = a, 5  -- letters of 6 bits in a word
   for index = 0, random - 1 do
      if left == 0 then
         a, b, c = b, c, a
         word, left = a, 5
         if index % 15 == 0 then
            a, b, c = words.next(a, b, c)
            word = a
         end
      end
      at[index] = letters[band(word, 63)]
      word, left = rshift(word, 6), left - 1
   end
   ffi.fill(at + random, length - random, 97)
   return length
end

-- A function that writes the row of an ordinal and says where it ends.
function rows.writer(seed, client, least, most)
   local begin, next = words.begin, words.next
   return function(at, ordinal)
      local a, b, c = begin(seed, client, ordinal)
      copy(at, head, #HEAD)
      time(at + TIME, ordinal)
      digits(at + REGISTER, below(a, CASHREGISTERS), 3)
      digits(at + CUSTOMER, below(b, CUSTOMERS), 5)
      digits(at + PRODUCT, below(c, PRODUCTS), 4)
      a, b, c = next(a, b, c)
      digits(at + PRICE, below(a, PRICES), 3)
      a, b, c = next(a, b, c)
      at = at + #HEAD
      at = at + text(at, least, most, a, b, c)
      at[0], at[1] = 39, 41  -- ')
      return at + 2
   end
end

local INSERT = "INSERT INTO pi%d (dateandtime,cashregisterid,customerid,productid,price,data) VALUES "

-- Of one row, what a server makes of it by CONCAT_WS(',', …) over its columns.
function rows.values(write)
   local buffer = ffi.new("char[?]", 8192)
   return function(ordinal)
      local length = write(buffer, ordinal) - buffer
      local time, register, customer, product, price = ffi.string(buffer + TIME, 19), tonumber(ffi.string(buffer + REGISTER, 3)),
         tonumber(ffi.string(buffer + CUSTOMER, 5)), tonumber(ffi.string(buffer + PRODUCT, 4)),
         tonumber(ffi.string(buffer + PRICE, 3))
      local data = ffi.string(buffer + #HEAD, length - #HEAD - 2)
      return ("%s,%d,%d,%d,%d,%s"):format(time, register, customer, product, price, data)
   end
end

-- A buffer, and a function that writes the INSERT of so many rows from an ordinal on, and gives its length.
function rows.statement(number, write, most_rows, most_data)
   local into = INSERT:format(number)
   local buffer = ffi.new("char[?]", #into + most_rows * (#HEAD + most_data + 3) + 1)
   copy(buffer, into, #into)
   return buffer, function(ordinal, count)
      local at = buffer + #into
      for row = ordinal, ordinal + count - 1 do
         at = write(at, row)
         at[0] = 44  -- ,
         at = at + 1
      end
      at[-1] = 0  -- in place of the last comma: PostgreSQL's driver takes no length
      return at - buffer - 1
   end
end

return rows
