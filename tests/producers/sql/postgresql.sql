-- What producers on PostgreSQL are run against. A statement ends with a semicolon at the end of its line, and is run by
-- itself unless it stands between BEGIN and COMMIT. Everything above `-- start` is there when a producer starts.

CREATE EXTENSION hstore;
CREATE EXTENSION citext;
CREATE EXTENSION ltree;
CREATE SCHEMA archive;
CREATE TYPE grade AS ENUM ('low', 'mid,dle', 'high');
CREATE DOMAIN postcode AS varchar(8);

CREATE TABLE numbers (
    id integer PRIMARY KEY,
    small smallint,
    whole integer,
    big bigint,
    price numeric(5, 2),
    amount numeric(18, 6),
    units numeric(38, 0),
    ratio numeric(4, 4),
    free numeric,
    cost money,
    single real,
    precise double precision,
    flag boolean,
    reference oid
);
INSERT INTO numbers VALUES (1, 1, 1, 1, 1.00, 1.000000, 1, 0.1000, 1, 1, 1.1, 1.1, true, 1);
INSERT INTO numbers VALUES (2, -32768, -2147483648, -9223372036854775808, -999.99, -999999999999.999999, -99999999999999999999999999999999999999, -0.9999, -12345.6789, '-92233720368547758.08', -3.4028235e38, -1.7976931348623157e308, false, 4294967295);
INSERT INTO numbers (id) VALUES (3);

CREATE TABLE texts (
    id integer PRIMARY KEY,
    fixed char(5),
    short varchar(20),
    long text,
    folded citext,
    path ltree,
    code postcode,
    quality grade,
    document json,
    compact jsonb,
    markup xml,
    identity uuid,
    words tsvector
);
INSERT INTO texts VALUES (1, 'ab', 'short', 'long', 'Folded', 'top.left', '80331', 'mid,dle', '{"a": 1.10, "b": [null, true]}', '{"a": 1.10, "b": [null, true]}', '<a b="c">d</a>', '00112233-4455-6677-8899-aabbccddeeff', 'two words');
INSERT INTO texts VALUES (2, '', '', '', '', '', '', 'low', '""', 'null', '<e/>', '00000000-0000-0000-0000-000000000000', '');
INSERT INTO texts (id) VALUES (3);

CREATE TABLE bytes (
    id integer PRIMARY KEY,
    content bytea,
    bit_one bit(1),
    bit_ten bit(10),
    bit_some bit varying(12),
    bit_wide bit(64)
);
INSERT INTO bytes VALUES (1, '\x00ff10', B'1', B'1000000001', B'1', B'1000000000000000000000000000000000000000000000000000000000000001');
INSERT INTO bytes VALUES (2, '\x', B'0', B'0000000000', B'', B'0000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO bytes (id) VALUES (3);

CREATE TABLE times (
    id integer PRIMARY KEY,
    day date,
    time_0 time(0),
    time_3 time(3),
    time_6 time(6),
    time_zone_0 timetz(0),
    time_zone_6 timetz(6),
    moment_0 timestamp(0),
    moment_3 timestamp(3),
    moment_6 timestamp(6),
    instant_0 timestamptz(0),
    instant_3 timestamptz(3),
    instant_6 timestamptz(6),
    span interval
);
INSERT INTO times VALUES (1, '2024-02-29', '12:34:56', '12:34:56.789', '12:34:56.789123', '12:34:56+08', '12:34:56.789123+08', '2024-02-29 12:34:56', '2024-02-29 12:34:56.789', '2024-02-29 12:34:56.789123', '2024-02-29 12:34:56+00', '2024-02-29 12:34:56.789+00', '2024-02-29 12:34:56.789123+00', '1 year 2 mons 3 days 04:05:06.789');
INSERT INTO times VALUES (2, '1970-01-01', '00:00:00', '00:00:00', '00:00:00', '00:00:00+00', '00:00:00+00', '1970-01-01 00:00:00', '1970-01-01 00:00:00', '1970-01-01 00:00:00', '1970-01-01 00:00:00+00', '1970-01-01 00:00:00+00', '1970-01-01 00:00:00+00', '0');
INSERT INTO times (id) VALUES (3);

CREATE TABLE structures (
    id integer PRIMARY KEY,
    wholes integer[],
    bigs bigint[],
    names text[],
    prices numeric(8, 2)[],
    flags boolean[],
    days date[],
    identities uuid[],
    instants timestamptz[],
    spot point,
    area polygon,
    attributes hstore,
    whole_range int4range,
    big_range int8range,
    number_range numrange,
    moment_range tsrange,
    instant_range tstzrange,
    day_range daterange,
    host inet,
    network cidr,
    card macaddr,
    card_8 macaddr8
);
INSERT INTO structures VALUES (1, '{1,2,NULL}', '{9223372036854775807}', '{a,"b,c","",NULL}', '{1.10,2.20}', '{t,f}', '{2024-02-29}', '{00112233-4455-6677-8899-aabbccddeeff}', '{"2024-02-29 12:34:56.789123+00"}', '(1.5,-2.5)', '((0,0),(1,0),(1,1))', 'a=>1, "b c"=>NULL', '[1,5)', '[1,)', '(1.1,2.2]', '["2024-02-29 00:00:00","2024-02-29 12:34:56.789"]', '["2024-02-29 00:00:00+00","2024-02-29 12:34:56.789+00"]', '[2024-02-28,2024-03-01)', '192.168.0.1/24', '192.168.0.0/24', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05');
INSERT INTO structures VALUES (2, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '(0,0)', '((0,0))', '', 'empty', '(,)', 'empty', '(,)', '(,)', 'empty', '::1', '::/0', '00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff:ff:ff');
INSERT INTO structures (id) VALUES (3);

CREATE TABLE orders (
    id bigint PRIMARY KEY,
    state varchar(12) NOT NULL DEFAULT 'new',
    total numeric(12, 2) NOT NULL,
    extra integer DEFAULT 7,
    note text DEFAULT 'none',
    updated timestamp(3) DEFAULT '2024-01-01 00:00:00'
);
INSERT INTO orders (id, total) VALUES (1, 10.50);
INSERT INTO orders VALUES (2, 'paid', 20.00, NULL, NULL, NULL);
INSERT INTO orders VALUES (3, 'paid', 0.00, 0, '', '2024-02-29 12:34:56.789');

CREATE TABLE orders_full (LIKE orders INCLUDING ALL);
ALTER TABLE orders_full REPLICA IDENTITY FULL;
INSERT INTO orders_full SELECT * FROM orders;

CREATE TABLE lines (
    order_id bigint,
    line varchar(4),
    sku text NOT NULL,
    quantity integer,
    PRIMARY KEY (line, order_id)
);
INSERT INTO lines VALUES (1, 'a', 'pen', 2), (1, 'b', 'ink', 1), (2, 'a', 'pad', NULL);

CREATE TABLE documents (
    id integer PRIMARY KEY,
    title text,
    body text,
    scan bytea,
    parts text[],
    codes integer[],
    meta jsonb,
    attributes hstore
);
ALTER TABLE documents ALTER body SET STORAGE EXTERNAL, ALTER scan SET STORAGE EXTERNAL, ALTER parts SET STORAGE EXTERNAL, ALTER codes SET STORAGE EXTERNAL, ALTER meta SET STORAGE EXTERNAL, ALTER attributes SET STORAGE EXTERNAL;
INSERT INTO documents VALUES (1, 'first', repeat('body ', 600), decode(repeat('00ff', 1500), 'hex'), array_fill('part'::text, ARRAY[600]), array_fill(7, ARRAY[800]), jsonb_build_object('text', repeat('meta ', 600)), hstore('text', repeat('pair ', 600)));

CREATE TABLE documents_full (LIKE documents INCLUDING ALL);
ALTER TABLE documents_full REPLICA IDENTITY FULL;
INSERT INTO documents_full SELECT * FROM documents;

CREATE TABLE journal (at timestamp(6), line text);
ALTER TABLE journal REPLICA IDENTITY FULL;
INSERT INTO journal VALUES ('2024-02-29 12:34:56.789123', 'opened');

CREATE TABLE readings (sensor integer, reading real);
INSERT INTO readings VALUES (1, 0.5);

CREATE TABLE tickets (series text NOT NULL, number integer NOT NULL, holder text);
CREATE UNIQUE INDEX tickets_index ON tickets (series, number);
ALTER TABLE tickets REPLICA IDENTITY USING INDEX tickets_index;
INSERT INTO tickets VALUES ('A', 1, 'Ann');

CREATE TABLE archive.orders (id bigint PRIMARY KEY, closed date);
INSERT INTO archive.orders VALUES (1, '2023-12-31');

CREATE TABLE "odd-Names" ("Key Part" integer PRIMARY KEY, "a-b" text, "a.b" text, "1st" integer, "Größe" text, "select" boolean);
INSERT INTO "odd-Names" VALUES (1, 'hyphen', 'dot', 1, 'umlaut', true);

CREATE TABLE the_end (id integer PRIMARY KEY);

-- start

-- Numbers at the ends of their types.
INSERT INTO numbers VALUES (4, 32767, 2147483647, 9223372036854775807, 999.99, 999999999999.999999, 99999999999999999999999999999999999999, 0.9999, 12345678901234567890.123456789, '92233720368547758.07', 3.4028235e38, 1.7976931348623157e308, true, 0);
INSERT INTO numbers VALUES (5, 0, 0, 0, 0.00, 0.000000, 0, 0.0000, 0, 0, 0, 0, false, 0);
INSERT INTO numbers VALUES (6, -1, -1, -1, -0.01, -0.000001, -1, -0.0001, -0.001, -0.01, 1e-45, 5e-324, NULL, NULL);
INSERT INTO numbers (id, free, single, precise) VALUES (7, 0.00000000000000000001, 'NaN', 'NaN');
INSERT INTO numbers (id, free, single, precise) VALUES (8, 1e30, 'Infinity', 'Infinity');
INSERT INTO numbers (id, free, single, precise) VALUES (9, -100, '-Infinity', '-Infinity');
INSERT INTO numbers (id, free, single, precise) VALUES (10, 1.50, 16777217, 9007199254740993);
INSERT INTO numbers (id, price, amount, units, precise) VALUES (11, 1.28, 0.188, 255, 1e21), (12, -1.28, -0.188, 256, 1e-7), (13, 7.90, 123.456, 65536, '-0');
UPDATE numbers SET price = 12.34, precise = 0.1 WHERE id = 1;
DELETE FROM numbers WHERE id = 2;

-- Texts.
INSERT INTO texts VALUES (4, 'abcde', 'Grüße 你好 😀', E'tab\tquote" back\\slash\nline', 'ÄÖÜ', 'a.b.c_1', 'AB 12', 'high', '{"a" :  1, "a": 2}', '{"b": 12345678901234567890.5, "a": "\u00fc"}', '<?xml version="1.0"?><r>&lt;ü</r>', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '''a'':1 ''b'':2B,3');
INSERT INTO texts (id, short, long, document) VALUES (5, 'null', '__debezium_unavailable_value', 'null');
INSERT INTO texts (id, short, long) VALUES (6, '1234', E'\u0001\u007f\u2028');
UPDATE texts SET quality = 'mid,dle', short = 'changed' WHERE id = 3;
DELETE FROM texts WHERE id = 1;

-- Bytes and bits.
INSERT INTO bytes VALUES (4, '\xfbff', B'1', B'0000000001', B'000000000001', B'0000000000000000000000000000000000000000000000000000000000000001');
INSERT INTO bytes VALUES (5, '\xdead0000', B'0', B'1111111111', B'101', B'1111111111111111111111111111111111111111111111111111111111111111');
INSERT INTO bytes (id, content) VALUES (6, '\x00'), (7, 'plain text'), (8, '\x0000');
UPDATE bytes SET content = '\x0a', bit_ten = B'0100000000' WHERE id = 1;
DELETE FROM bytes WHERE id = 2;

-- Days, times of day, moments, instants and intervals.
INSERT INTO times VALUES (4, '1969-12-31', '23:59:59', '23:59:59.999', '23:59:59.999999', '23:59:59-12', '23:59:59.999999+14', '1969-12-31 23:59:59', '1969-12-31 23:59:59.999', '1969-12-31 23:59:59.999999', '1969-12-31 23:59:59+00', '1969-12-31 23:59:59.999+00', '1969-12-31 23:59:59.999999+00', '-1 years -2 mons +3 days -04:05:06.789');
INSERT INTO times VALUES (5, '1970-01-02', '00:00:01', '00:00:00.001', '00:00:00.000001', '00:00:01+00', '00:00:00.000001+00', '1970-01-01 00:00:01', '1970-01-01 00:00:00.001', '1970-01-01 00:00:00.000001', '1970-01-01 00:00:01+00', '1970-01-01 00:00:00.001+00', '1970-01-01 00:00:00.000001+00', '0.000001 seconds');
INSERT INTO times VALUES (6, '9999-12-31', '24:00:00', '24:00:00', '24:00:00', '24:00:00+00', '24:00:00+00', '9999-12-31 23:59:59', '9999-12-31 23:59:59.999', '9999-12-31 23:59:59.999999', '9999-12-31 23:59:59+00', '9999-12-31 23:59:59.999+00', '9999-12-31 23:59:59.999999+00', '100 years');
INSERT INTO times (id, day, moment_0, moment_3, moment_6, instant_0, instant_3, instant_6, span) VALUES (7, '0044-03-15 BC', '0044-03-15 12:00:00 BC', '0044-03-15 12:00:00.5 BC', '0044-03-15 12:00:00.000001 BC', '0044-03-15 12:00:00+00 BC', '0044-03-15 12:00:00.5+00 BC', '0044-03-15 12:00:00.000001+00 BC', '36 hours');
INSERT INTO times (id, day, moment_0, moment_3, moment_6, instant_0, instant_3, instant_6, span) VALUES (8, 'infinity', 'infinity', 'infinity', 'infinity', 'infinity', 'infinity', 'infinity', '1 mon');
INSERT INTO times (id, day, moment_0, moment_3, moment_6, instant_0, instant_3, instant_6, span) VALUES (9, '-infinity', '-infinity', '-infinity', '-infinity', '-infinity', '-infinity', '-infinity', '30 days');
INSERT INTO times (id, day, time_3, time_6, moment_0, moment_3, moment_6, instant_3, instant_6) VALUES (10, '0001-01-01', '12:34:56.700', '12:34:56.780000', '0001-01-01 00:00:00', '2024-02-29 12:34:56.700', '2024-02-29 12:34:56.780000', '2024-02-29 12:34:56.700+00', '2024-02-29 12:34:56.780000+00');
INSERT INTO times (id, day, moment_6, instant_6) VALUES (11, '1582-10-15', '1582-10-10 00:00:00', '1582-10-10 00:00:00+00'), (12, '2262-04-12', '2262-04-12 00:00:00', '2262-04-12 00:00:00+00'), (13, '1900-03-01', '1883-11-18 12:00:00', '2024-02-29 23:30:00-05:30');
UPDATE times SET moment_6 = '2024-03-01 00:00:00', span = 'P1M' WHERE id = 1;
DELETE FROM times WHERE id = 2;

-- Arrays, ranges, addresses and pairs.
INSERT INTO structures VALUES (4, '{-2147483648,2147483647}', '{-9223372036854775808,0}', '{"quote\"","back\\slash","ü 😀","NULL"}', '{0.00,-1.50,NULL}', '{NULL}', '{1970-01-01,NULL,0044-03-15 BC}', '{NULL}', '{"1969-12-31 23:59:59.999999+00",NULL}', '(-0.1,1e21)', '((1,1),(2,2),(3,1))', '"quote\""=>"a,b", ""=>""', '(,5]', '(,0]', '[0.10,)', '("1970-01-01 00:00:00",)', '("1970-01-01 00:00:00+00",)', '[2024-02-29,)', '10.1.2.3', '10.0.0.0/8', 'ff:ff:ff:ff:ff:ff', '00:00:00:ff:fe:00:00:01');
UPDATE structures SET names = '{changed}', attributes = 'c=>3' WHERE id = 1;
DELETE FROM structures WHERE id = 2;

-- Defaults and nulls, with the default replica identity and with the full one.
INSERT INTO orders (id, total) VALUES (4, 1.00);
INSERT INTO orders VALUES (5, 'new', 2.00, NULL, NULL, NULL);
INSERT INTO orders VALUES (6, DEFAULT, 3.00, 7, 'none', DEFAULT);
UPDATE orders SET state = 'sent' WHERE id = 4;
UPDATE orders SET extra = NULL, note = NULL WHERE id = 4;
UPDATE orders SET state = 'sent' WHERE id = 4;
UPDATE orders SET id = 40 WHERE id = 4;
UPDATE orders SET id = 50, state = 'moved' WHERE id = 5;
UPDATE orders SET total = total + 1 WHERE id IN (1, 2, 3);
DELETE FROM orders WHERE id = 1;
DELETE FROM orders WHERE id IN (2, 3);
INSERT INTO orders VALUES (1, 'again', 9.00, 1, 'back', '2024-03-01 00:00:00');
INSERT INTO orders VALUES (1, 'other', 9.50) ON CONFLICT (id) DO UPDATE SET state = 'merged', total = excluded.total;
INSERT INTO orders_full (id, total) VALUES (4, 1.00);
INSERT INTO orders_full VALUES (5, 'new', 2.00, NULL, NULL, NULL);
UPDATE orders_full SET state = 'sent' WHERE id = 4;
UPDATE orders_full SET extra = NULL, note = NULL WHERE id = 4;
UPDATE orders_full SET state = 'sent' WHERE id = 4;
UPDATE orders_full SET id = 40 WHERE id = 4;
UPDATE orders_full SET total = total + 1 WHERE id IN (1, 2, 3);
DELETE FROM orders_full WHERE id = 1;
DELETE FROM orders_full WHERE id IN (2, 3);

-- Keys of two columns, of an index, and none.
INSERT INTO lines VALUES (2, 'b', 'cap', 0);
UPDATE lines SET quantity = 5 WHERE order_id = 1 AND line = 'a';
UPDATE lines SET line = 'c' WHERE order_id = 1 AND line = 'b';
DELETE FROM lines WHERE order_id = 2;
INSERT INTO tickets VALUES ('A', 2, 'Bob');
UPDATE tickets SET holder = NULL WHERE number = 1;
UPDATE tickets SET number = 3 WHERE number = 2;
DELETE FROM tickets WHERE number = 1;
INSERT INTO journal VALUES ('2024-02-29 12:34:57', 'written'), (NULL, NULL);
UPDATE journal SET line = 'closed' WHERE line = 'opened';
DELETE FROM journal WHERE line IS NULL;
INSERT INTO readings VALUES (2, 1.25);
INSERT INTO archive.orders VALUES (2, '2024-01-31');
UPDATE archive.orders SET closed = NULL WHERE id = 1;
DELETE FROM archive.orders WHERE id = 2;
INSERT INTO "odd-Names" VALUES (2, NULL, '', -1, 'ß', false);
UPDATE "odd-Names" SET "Key Part" = 3 WHERE "Key Part" = 2;
DELETE FROM "odd-Names" WHERE "Key Part" = 1;

-- Columns kept outside of the row that an update leaves alone, and then does not.
UPDATE documents SET title = 'second' WHERE id = 1;
UPDATE documents SET body = 'short', meta = '{}' WHERE id = 1;
UPDATE documents SET id = 2 WHERE id = 1;
DELETE FROM documents WHERE id = 2;
UPDATE documents_full SET title = 'second' WHERE id = 1;
UPDATE documents_full SET body = 'short', meta = '{}' WHERE id = 1;
UPDATE documents_full SET id = 2 WHERE id = 1;
DELETE FROM documents_full WHERE id = 2;

-- Transactions of several statements, one of them undone.
BEGIN;
INSERT INTO orders (id, total) VALUES (7, 7.00);
UPDATE orders SET state = 'paid' WHERE id = 7;
INSERT INTO lines VALUES (7, 'a', 'pen', 1), (7, 'b', 'ink', 1);
COMMIT;
BEGIN;
INSERT INTO orders (id, total) VALUES (8, 8.00);
ROLLBACK;
BEGIN;
INSERT INTO orders (id, total) VALUES (9, 9.00);
SAVEPOINT half;
DELETE FROM orders WHERE id = 7;
ROLLBACK TO SAVEPOINT half;
DELETE FROM orders WHERE id = 9;
COMMIT;
SELECT pg_logical_emit_message(true, 'audit', 'nightly run');
SELECT pg_logical_emit_message(false, 'ping', 'not in a transaction');

-- Tables that change between rows.
ALTER TABLE orders ADD COLUMN weight numeric(6, 3);
INSERT INTO orders (id, total, weight) VALUES (10, 10.00, 1.250);
ALTER TABLE orders ADD COLUMN origin text NOT NULL DEFAULT 'web';
UPDATE orders SET weight = 0.5 WHERE id = 10;
INSERT INTO orders (id, total, origin) VALUES (11, 11.00, 'shop');
ALTER TABLE orders RENAME COLUMN note TO remark;
UPDATE orders SET remark = 'renamed' WHERE id = 11;
ALTER TABLE orders ALTER COLUMN total TYPE numeric(14, 4);
UPDATE orders SET total = 11.1234 WHERE id = 11;
ALTER TABLE orders ALTER COLUMN extra TYPE text USING extra::text;
UPDATE orders SET extra = 'seven' WHERE id = 11;
ALTER TABLE orders DROP COLUMN updated;
DELETE FROM orders WHERE id = 11;
CREATE TABLE visits (id integer PRIMARY KEY, page text);
INSERT INTO visits VALUES (1, 'home'), (2, 'cart');
TRUNCATE TABLE visits;
INSERT INTO visits VALUES (1, 'home again');
ALTER TABLE visits RENAME TO page_views;
INSERT INTO page_views VALUES (2, 'help');
DROP TABLE page_views;
TRUNCATE TABLE lines, readings;

INSERT INTO the_end VALUES (1);
