-- Every type has one name, whatever a script calls it.
CREATE TYPE mood AS ENUM ('good', 'not so', 'it''s "bad"');
CREATE TYPE "Size" AS ENUM ('S', 'M');
CREATE DOMAIN price AS decimal(12, 2) CHECK (VALUE >= 0);
CREATE DOMAIN paid price NOT NULL;
CREATE DOMAIN tags AS varchar(9)[];
CREATE TABLE types (
  a int, b int2, c int4, d int8, e smallint, f bigint, g serial, h bigserial, i smallserial, j serial8,
  k numeric, l numeric(10), m numeric(10, 2), n numeric(10,-2), o numeric(2,4), p decimal, q dec(5,1),
  r real, s float4, t float8, u double precision, v float, w float(24), x float(25), y bool, z boolean,
  aa char, ab char(3), ac character varying(20), ad varchar, ae text, af bpchar, ag bpchar(4), ah name, ai "char",
  aj national character varying(7), ak nchar(2), al pg_catalog.int4, am "varchar"(8), an character varying,
  ba date, bb time, bc time(3), bd time with time zone, be timetz(2), bf timestamp, bg timestamp(3) with time zone,
  bh timestamptz, bi timestamptz(0), bj timestamp (6) without time zone, bk interval, bl interval(3),
  bm interval day to second(3), bn interval year to month, bo interval second(1), bp interval hour,
  ca bytea, cb bit, cc bit(5), cd bit varying(5), ce varbit, cf uuid, cg json, ch jsonb, ci xml, cj inet, ck cidr,
  cl macaddr, cm macaddr8, cn money, co tsvector, cp tsquery, cq oid, cr int4range, cs tstzrange, ct nummultirange,
  cu point, cv box, cw pg_lsn, cx regclass, cy jsonpath,
  da integer[], db int4[][], dc int [3], dd text ARRAY, de text array[4], df varchar(5)[], dg numeric(6,2)[][],
  dh timestamptz(3)[], di mood[], dj double precision ARRAY, dk price[],
  ea mood, eb public.mood, ec "Size", ed price, ee paid, ef tags, eg public."Size"
);
