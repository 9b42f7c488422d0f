/* By hand: schemas, keys, /* nested */ and what migrations add. It's one script. */
\set ON_ERROR_STOP on
BEGIN;
CREATE SCHEMA IF NOT EXISTS shop;
SET search_path TO shop, public;
CREATE EXTENSION IF NOT EXISTS plpgsql;
CREATE TYPE state AS ENUM ('new', 'paid');

CREATE TABLE IF NOT EXISTS Customers (
    id          bigint GENERATED ALWAYS AS IDENTITY (START WITH 1000) PRIMARY KEY,
    "Full Name" text COLLATE "C" NOT NULL DEFAULT 'n''a; )',
    "select"    varchar(10) CONSTRAINT short CHECK ("select" <> '('),
    key         uuid UNIQUE DEFAULT gen_random_uuid(),
    initial     text GENERATED ALWAYS AS (left("Full Name", 1)) STORED,
    born        date CHECK (born IS NOT NULL OR id > 3),
    path        text DEFAULT E'C:\\it\'s' NULL
);
CREATE TABLE public.orders (
    customer bigint NOT NULL REFERENCES customers (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    number   int,
    state    state DEFAULT 'new'::state,
    made     timestamptz DEFAULT (CURRENT_TIMESTAMP AT TIME ZONE 'utc'),
    total    numeric(12, 2) DEFAULT (1 + (2 * 3)),
    CONSTRAINT positive CHECK (total >= 0) NO INHERIT,
    CONSTRAINT orders_key PRIMARY KEY (customer, number) INCLUDE (made) WITH (fillfactor = 70),
    UNIQUE NULLS NOT DISTINCT (made),
    EXCLUDE USING btree (number WITH =)
) WITH (fillfactor = 80) TABLESPACE pg_default;
CREATE TABLE logs (id serial, at timestamp DEFAULT now(), note varchar(20), rest text, old int NOT NULL);
CREATE UNLOGGED TABLE cache (id int PRIMARY KEY, value jsonb);
CREATE TEMP TABLE gone (id int) ON COMMIT DROP;
CREATE VIEW recent AS SELECT 1 AS one;
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    CREATE TABLE never (id int);
    NEW.at := now(); -- it's a body
    RETURN NEW;
END
$body$;
CREATE FUNCTION one() RETURNS int BEGIN ATOMIC
  SELECT 1;
END;
DO $$ BEGIN PERFORM 1; END $$;
COMMENT ON TABLE orders IS 'what is bought; "all" of it';
COMMENT ON COLUMN public.orders.total IS $$it's paid$$;
COMMENT ON COLUMN logs.note IS 'soon gone';
COMMENT ON COLUMN logs.note IS NULL;
ALTER TABLE logs ADD COLUMN IF NOT EXISTS more int NOT NULL DEFAULT 0, ADD tags text[],
    ALTER COLUMN rest SET NOT NULL, ALTER old DROP NOT NULL, ALTER COLUMN note TYPE varchar(40) USING note::text,
    ALTER at SET DATA TYPE timestamp(3) with time zone;
ALTER TABLE ONLY logs ADD PRIMARY KEY (id);
ALTER TABLE logs ALTER COLUMN more DROP DEFAULT, ALTER COLUMN more SET STATISTICS 100;
ALTER TABLE cache OWNER TO CURRENT_USER;
ALTER TYPE state ADD VALUE 'sent' AFTER 'new';
ALTER TYPE state RENAME VALUE 'paid' TO 'settled';
INSERT INTO logs (rest, more) VALUES ('CREATE TABLE x (', 1);
COMMIT;
SET search_path = public;
CREATE TABLE customers ("Id" int PRIMARY KEY, id int);
