-- What producers on MariaDB are run against. A statement ends with a semicolon at the end of its line, and is run by
-- itself unless it stands between BEGIN and COMMIT. Everything above `-- start` is there when a producer starts.

CREATE DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
USE shop;
-- Strict, but for dates of zeros.
SET SESSION sql_mode = 'STRICT_ALL_TABLES';

CREATE TABLE numbers (
    id int PRIMARY KEY,
    tiny tinyint,
    tiny_one tinyint(1),
    tiny_unsigned tinyint unsigned,
    small smallint,
    small_unsigned smallint unsigned,
    medium mediumint,
    medium_unsigned mediumint unsigned,
    whole int,
    whole_unsigned int unsigned,
    filled int(6) unsigned zerofill,
    big bigint,
    big_unsigned bigint unsigned,
    price decimal(5, 2),
    amount decimal(18, 6),
    units decimal(38, 0),
    ratio decimal(4, 4),
    wide decimal(65, 30),
    positive decimal(8, 2) unsigned,
    single float,
    precise double,
    flag boolean
);
INSERT INTO numbers VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1.00, 1.000000, 1, 0.1000, 1, 1.00, 1.1, 1.1, true);
INSERT INTO numbers VALUES (2, -128, 127, 0, -32768, 0, -8388608, 0, -2147483648, 0, 0, -9223372036854775808, 18446744073709551615, -999.99, -999999999999.999999, -99999999999999999999999999999999999999, -0.9999, -12345678901234567890123456789012345.123456789012345678901234567890, 0.00, -3.402823e38, -1.7976931348623157e308, false);
INSERT INTO numbers (id) VALUES (3);

CREATE TABLE texts (
    id int PRIMARY KEY,
    fixed char(5),
    short varchar(20),
    tiny tinytext,
    long_text text,
    medium mediumtext,
    longest longtext,
    exact varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    exact_text text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    western varchar(20) CHARACTER SET latin1,
    chinese varchar(20) CHARACTER SET gbk,
    grade enum('low', 'mid,dle', 'high', 'it''s'),
    traits set('red', 'round', 'sweet'),
    document json
);
INSERT INTO texts VALUES (1, 'ab', 'short', 'tiny', 'text', 'medium', 'long', 'exact', 'exact text', 'Größe', '你好', 'mid,dle', 'red,sweet', '{"a": 1.10, "b": [null, true]}');
INSERT INTO texts VALUES (2, '', '', '', '', '', '', '', '', '', '', 'low', '', '""');
INSERT INTO texts (id) VALUES (3);

CREATE TABLE bytes (
    id int PRIMARY KEY,
    fixed binary(4),
    short varbinary(8),
    tiny tinyblob,
    content blob,
    medium mediumblob,
    longest longblob,
    bit_one bit(1),
    bit_ten bit(10),
    bit_wide bit(64)
);
INSERT INTO bytes VALUES (1, x'00ff10', x'00ff10', x'01', x'fbff', x'dead0000', x'c3bc', b'1', b'1000000001', b'1000000000000000000000000000000000000000000000000000000000000001');
INSERT INTO bytes VALUES (2, '', '', '', '', '', '', b'0', b'0', b'0');
INSERT INTO bytes (id) VALUES (3);

CREATE TABLE times (
    id int PRIMARY KEY,
    day date,
    time_0 time,
    time_3 time(3),
    time_6 time(6),
    moment_0 datetime,
    moment_3 datetime(3),
    moment_6 datetime(6),
    instant_0 timestamp NULL,
    instant_3 timestamp(3) NULL,
    instant_6 timestamp(6) NULL,
    published year
);
INSERT INTO times VALUES (1, '2024-02-29', '12:34:56', '12:34:56.789', '12:34:56.789123', '2024-02-29 12:34:56', '2024-02-29 12:34:56.789', '2024-02-29 12:34:56.789123', '2024-02-29 12:34:56', '2024-02-29 12:34:56.789', '2024-02-29 12:34:56.789123', 2024);
INSERT INTO times VALUES (2, '1970-01-01', '00:00:00', '00:00:00', '00:00:00', '1970-01-01 00:00:00', '1970-01-01 00:00:00', '1970-01-01 00:00:00', '1970-01-01 00:00:01', '1970-01-01 00:00:01', '1970-01-01 00:00:01', 1970);
INSERT INTO times (id) VALUES (3);

CREATE TABLE zero_dates (
    id int PRIMARY KEY,
    day date,
    day_given date NOT NULL,
    moment datetime,
    moment_given datetime(6) NOT NULL,
    instant timestamp NULL,
    instant_given timestamp(3) NOT NULL DEFAULT '2024-01-01 00:00:00'
);
INSERT INTO zero_dates VALUES (1, '2024-02-29', '2024-02-29', '2024-02-29 00:00:00', '2024-02-29 00:00:00', '2024-02-29 00:00:00', '2024-02-29 00:00:00');
INSERT INTO zero_dates VALUES (2, '0000-00-00', '0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00', '0000-00-00 00:00:00', '0000-00-00 00:00:00');

CREATE TABLE places (
    id int PRIMARY KEY,
    spot point,
    route linestring,
    area polygon,
    shape geometry
);
INSERT INTO places VALUES (1, ST_GeomFromText('POINT(1.5 -2.5)'), ST_GeomFromText('LINESTRING(0 0, 1 1)'), ST_GeomFromText('POLYGON((0 0, 1 0, 1 1, 0 0))'), ST_GeomFromText('POINT(1 2)', 4326));
INSERT INTO places (id) VALUES (2);

CREATE TABLE orders (
    id bigint PRIMARY KEY,
    state varchar(12) NOT NULL DEFAULT 'new',
    total decimal(12, 2) NOT NULL,
    extra int DEFAULT 7,
    note varchar(20) DEFAULT 'none',
    changed datetime(3) DEFAULT '2024-01-01 00:00:00'
);
INSERT INTO orders (id, total) VALUES (1, 10.50);
INSERT INTO orders VALUES (2, 'paid', 20.00, NULL, NULL, NULL);
INSERT INTO orders VALUES (3, 'paid', 0.00, 0, '', '2024-02-29 12:34:56.789');

CREATE TABLE order_lines (
    order_id bigint,
    line varchar(4),
    sku varchar(12) NOT NULL,
    quantity int unsigned,
    PRIMARY KEY (line, order_id)
);
INSERT INTO order_lines VALUES (1, 'a', 'pen', 2), (1, 'b', 'ink', 1), (2, 'a', 'pad', NULL);

CREATE TABLE documents (
    id int PRIMARY KEY,
    title varchar(20),
    body text,
    scan blob
);
INSERT INTO documents VALUES (1, 'first', repeat('body ', 600), repeat(x'00ff', 1500));

CREATE TABLE journal (at datetime(6), line varchar(20));
INSERT INTO journal VALUES ('2024-02-29 12:34:56.789123', 'opened');

CREATE TABLE tickets (series varchar(4) NOT NULL, number int NOT NULL, holder varchar(20), UNIQUE KEY tickets_index (series, number));
INSERT INTO tickets VALUES ('A', 1, 'Ann');

CREATE TABLE `odd-Names` (`Key Part` int PRIMARY KEY, `a-b` varchar(8), `a.b` varchar(8), `1st` int, `Größe` varchar(8), `select` boolean);
INSERT INTO `odd-Names` VALUES (1, 'hyphen', 'dot', 1, 'umlaut', true);

CREATE TABLE the_end (id int PRIMARY KEY);

-- start

-- Numbers at the ends of their types.
INSERT INTO numbers VALUES (4, 127, -128, 255, 32767, 65535, 8388607, 16777215, 2147483647, 4294967295, 999999, 9223372036854775807, 9223372036854775807, 999.99, 999999999999.999999, 99999999999999999999999999999999999999, 0.9999, 12345678901234567890123456789012345.123456789012345678901234567890, 999999.99, 3.402823e38, 1.7976931348623157e308, true);
INSERT INTO numbers VALUES (5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.00, 0.000000, 0, 0.0000, 0, 0.00, 0, 0, false);
INSERT INTO numbers VALUES (6, -1, -1, 128, -1, 32768, -1, 8388608, -1, 2147483648, 42, -1, 9223372036854775808, -0.01, -0.000001, -1, -0.0001, -0.000000000000000000000000000001, 0.01, 1.4e-45, 2.2250738585072014e-308, NULL);
INSERT INTO numbers (id, big_unsigned) VALUES (7, 18446744073709551615), (8, 9223372036854775809);
INSERT INTO numbers (id, price, amount, units, single, precise) VALUES (9, 1.28, 0.188, 255, 16777217, 9007199254740993), (10, -1.28, -0.188, 256, 0.1, 1e21), (11, 7.90, 123.456, 65536, 1e-7, 1e-7);
UPDATE numbers SET price = 12.34, precise = 0.1 WHERE id = 1;
UPDATE numbers SET big_unsigned = 0 WHERE id = 7;
DELETE FROM numbers WHERE id = 2;

-- Texts.
INSERT INTO texts VALUES (4, 'abcde', 'Grüße 你好 😀', 'tab\tquote" back\\slash\nline', 'ÄÖÜ', 'a.b', 'c', 'ß exact', 'ß exact 😀', 'àéîõü', '中文', 'it''s', 'red,round,sweet', '{"a" :  1, "a": 2}');
INSERT INTO texts (id, short, long_text, document) VALUES (5, 'null', '__debezium_unavailable_value', 'null');
INSERT INTO texts (id, short, grade) VALUES (6, '1234', 'mid,dle');
UPDATE texts SET grade = 'mid,dle', traits = 'round' WHERE id = 3;
DELETE FROM texts WHERE id = 1;

-- Bytes and bits.
INSERT INTO bytes VALUES (4, x'fbff0102', x'fbff', x'00', x'dead0000', x'0a0d', x'808182', b'1', b'1', b'1');
INSERT INTO bytes VALUES (5, x'01000000', 'plain', 'text', 'null', '', x'00', b'0', b'1111111111', b'1111111111111111111111111111111111111111111111111111111111111111');
INSERT INTO bytes (id, content) VALUES (6, x'00'), (7, 'plain text'), (8, x'0000');
UPDATE bytes SET content = x'0a', bit_ten = b'0100000000' WHERE id = 1;
DELETE FROM bytes WHERE id = 2;

-- Days, durations, moments and instants.
INSERT INTO times VALUES (4, '1969-12-31', '-00:00:01', '-00:00:00.001', '-00:00:00.000001', '1969-12-31 23:59:59', '1969-12-31 23:59:59.999', '1969-12-31 23:59:59.999999', '1970-01-01 00:00:02', '1970-01-01 00:00:01.001', '1970-01-01 00:00:01.000001', 1901);
INSERT INTO times VALUES (5, '1970-01-02', '00:00:01', '00:00:00.001', '00:00:00.000001', '1970-01-01 00:00:01', '1970-01-01 00:00:00.001', '1970-01-01 00:00:00.000001', '2038-01-19 03:14:07', '2038-01-19 03:14:07.999', '2038-01-19 03:14:07.999999', 2155);
INSERT INTO times VALUES (6, '9999-12-31', '838:59:59', '838:59:59.999', '838:59:59.999999', '9999-12-31 23:59:59', '9999-12-31 23:59:59.999', '9999-12-31 23:59:59.999999', '2024-02-29 23:59:59', '2024-02-29 23:59:59.700', '2024-02-29 23:59:59.780000', 0);
INSERT INTO times (id, day, time_0, time_3, time_6, moment_0, moment_3, moment_6) VALUES (7, '1000-01-01', '-838:59:59', '-838:59:59', '-838:59:59', '1000-01-01 00:00:00', '1000-01-01 00:00:00', '1000-01-01 00:00:00');
INSERT INTO times (id, day, time_0, time_3, time_6, moment_0, moment_3, moment_6) VALUES (8, '1582-10-10', '24:00:00', '24:00:00', '100:00:00.5', '1582-10-10 00:00:00', '2024-02-29 12:34:56.700', '2024-02-29 12:34:56.780000');
UPDATE times SET moment_6 = '2024-03-01 00:00:00', instant_6 = '2024-03-01 00:00:00' WHERE id = 1;
DELETE FROM times WHERE id = 2;
INSERT INTO zero_dates VALUES (3, '0000-00-00', '0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00', '0000-00-00 00:00:00', '0000-00-00 00:00:00');
INSERT INTO zero_dates VALUES (4, '2024-00-00', '2024-02-00', '2024-00-00 00:00:00', '2024-02-00 00:00:00', '1970-01-01 00:00:01', '1970-01-01 00:00:01');
UPDATE zero_dates SET day = '2024-03-01' WHERE id = 2;

-- Places.
INSERT INTO places VALUES (3, ST_GeomFromText('POINT(0 0)'), ST_GeomFromText('LINESTRING(-1 -1, 0.1 1e21)'), ST_GeomFromText('POLYGON((0 0, 4 0, 4 4, 0 0), (1 1, 2 1, 2 2, 1 1))'), ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1))'));
UPDATE places SET spot = NULL WHERE id = 1;

-- Defaults and nulls.
INSERT INTO orders (id, total) VALUES (4, 1.00);
INSERT INTO orders VALUES (5, 'new', 2.00, NULL, NULL, NULL);
INSERT INTO orders VALUES (6, DEFAULT, 3.00, 7, 'none', DEFAULT);
UPDATE orders SET state = 'sent' WHERE id = 4;
UPDATE orders SET extra = NULL, note = NULL WHERE id = 4;
UPDATE orders SET id = 40 WHERE id = 4;
UPDATE orders SET id = 50, state = 'moved' WHERE id = 5;
UPDATE orders SET total = total + 1 WHERE id IN (1, 2, 3);
DELETE FROM orders WHERE id = 1;
DELETE FROM orders WHERE id IN (2, 3);
INSERT INTO orders VALUES (1, 'again', 9.00, 1, 'back', '2024-03-01 00:00:00');
INSERT INTO orders (id, state, total) VALUES (1, 'other', 9.50) ON DUPLICATE KEY UPDATE state = 'merged', total = VALUES(total);

-- Keys of two columns, of an index, and none.
INSERT INTO order_lines VALUES (2, 'b', 'cap', 0);
UPDATE order_lines SET quantity = 5 WHERE order_id = 1 AND line = 'a';
UPDATE order_lines SET line = 'c' WHERE order_id = 1 AND line = 'b';
DELETE FROM order_lines WHERE order_id = 2;
INSERT INTO tickets VALUES ('A', 2, 'Bob');
UPDATE tickets SET holder = NULL WHERE number = 1;
UPDATE tickets SET number = 3 WHERE number = 2;
DELETE FROM tickets WHERE number = 1;
INSERT INTO journal VALUES ('2024-02-29 12:34:57', 'written'), (NULL, NULL);
UPDATE journal SET line = 'closed' WHERE line = 'opened';
DELETE FROM journal WHERE line IS NULL;
INSERT INTO `odd-Names` VALUES (2, NULL, '', -1, 'ß', false);
UPDATE `odd-Names` SET `Key Part` = 3 WHERE `Key Part` = 2;
DELETE FROM `odd-Names` WHERE `Key Part` = 1;
UPDATE documents SET title = 'second' WHERE id = 1;
UPDATE documents SET body = 'short' WHERE id = 1;
DELETE FROM documents WHERE id = 1;

-- Transactions of several statements, one of them undone.
BEGIN;
INSERT INTO orders (id, total) VALUES (7, 7.00);
UPDATE orders SET state = 'paid' WHERE id = 7;
INSERT INTO order_lines VALUES (7, 'a', 'pen', 1), (7, 'b', 'ink', 1);
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

-- Tables that change between rows.
ALTER TABLE orders ADD COLUMN weight decimal(6, 3);
INSERT INTO orders (id, total, weight) VALUES (10, 10.00, 1.250);
ALTER TABLE orders ADD COLUMN origin varchar(8) NOT NULL DEFAULT 'web' AFTER state;
UPDATE orders SET weight = 0.5 WHERE id = 10;
INSERT INTO orders (id, total, origin) VALUES (11, 11.00, 'shop');
ALTER TABLE orders CHANGE COLUMN note remark varchar(30) DEFAULT 'none';
UPDATE orders SET remark = 'renamed' WHERE id = 11;
ALTER TABLE orders MODIFY COLUMN total decimal(14, 4) NOT NULL;
UPDATE orders SET total = 11.1234 WHERE id = 11;
ALTER TABLE orders MODIFY COLUMN extra varchar(8);
UPDATE orders SET extra = 'seven' WHERE id = 11;
ALTER TABLE orders DROP COLUMN changed;
CREATE INDEX orders_state ON orders (state);
DROP INDEX orders_state ON orders;
DELETE FROM orders WHERE id = 11;
CREATE TABLE visits (id int PRIMARY KEY, page varchar(12));
INSERT INTO visits VALUES (1, 'home'), (2, 'cart');
TRUNCATE TABLE visits;
INSERT INTO visits VALUES (1, 'home again');
RENAME TABLE visits TO page_views;
INSERT INTO page_views VALUES (2, 'help');
DROP TABLE page_views;
TRUNCATE TABLE order_lines;
CREATE DATABASE attic;
DROP DATABASE attic;

INSERT INTO the_end VALUES (1);
