-- What a row holds, and the INSERT of many of them, written into a buffer: no Lua string for each row.

local ffi = require("ffi")
local words, digits = require("random_words"), require("digits").few
local bit = require("bit")
local copy, below, band, rshift, floor = ffi.copy, words.below, bit.band, bit.rshift, math.floor

local CASHREGISTERS, PRODUCTS, CUSTOMERS, PRICES = 1000, 10000, 100000, 500
local SHORT, FILLED = 20, "aaaaaaaaaaaa"
local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local ROWS_A_SECOND = 1000  -- of the time that a row says
local EPOCH = 1577836800    -- 2020-01-01
local HEAD = "('2020-01-01 00:00:00',000,00000,0000,000,'"
local TIME, REGISTER, CUSTOMER, PRODUCT, PRICE = 2, 23, 27, 33, 38  -- where they begin
local rows = {CUSTOMERS = CUSTOMERS, PRODUCTS = PRODUCTS, CASHREGISTERS = CASHREGISTERS, PRICES = PRICES}

local letters = ffi.new("char[64]", ALPHABET)
local head = ffi.new("char[?]", #HEAD + 1, HEAD)  -- with the time of the row before
local second = -1

-- What a row begins with, its time in place.
local function headed(ordinal)
   local now = floor(ordinal / ROWS_A_SECOND)
   if now ~= second then
      second = now
      copy(head + TIME, os.date("!%Y-%m-%d %H:%M:%S", EPOCH + now), 19)
   end
   return head
end

local function five(at, word)
   at[0], at[1], at[2] = letters[band(word, 63)], letters[band(rshift(word, 6), 63)], letters[band(rshift(word, 12), 63)]
   at[3], at[4] = letters[band(rshift(word, 18), 63)], letters[band(rshift(word, 24), 63)]
end

-- What text() writes, without a loop, which costs more than all else of a row. What it writes beyond the text is
-- written over by what follows.
local function short_text(at, least, most, a, b, c)
   local length = least + below(c, most - least + 1)
   five(at, a)
   five(at + 5, b)
   copy(at + rshift(length + 1, 1), FILLED, #FILLED)
   return length
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
   local text = most <= SHORT and short_text or text
   return function(at, ordinal)
      local a, b, c = begin(seed, client, ordinal)
      copy(at, headed(ordinal), #HEAD)
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

-- A buffer for the INSERT of so many rows, and where the first of them begins.
function rows.statement(number, most_rows, most_data)
   local into = INSERT:format(number)
   local buffer = ffi.new("char[?]", #into + most_rows * (#HEAD + most_data + 3) + #FILLED + 1)
   copy(buffer, into, #into)
   return buffer, buffer + #into
end

return rows
