-- Partitions and tables that inherit: their columns are those of the tables above them.
CREATE TABLE visits (id bigint NOT NULL, day date NOT NULL, page text, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE visits_2024 PARTITION OF visits FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE visits_2025 PARTITION OF visits (page NOT NULL DEFAULT '/', CONSTRAINT long CHECK (length(page) > 0))
    FOR VALUES FROM ('2025-01-01') TO ('2026-01-01') PARTITION BY RANGE (id);
CREATE TABLE visits_2025_home PARTITION OF visits_2025 FOR VALUES FROM (0) TO (10);
CREATE TABLE visits_rest PARTITION OF visits DEFAULT;
CREATE TABLE visits_old (id bigint NOT NULL, day date NOT NULL, page text);
ALTER TABLE visits ATTACH PARTITION visits_old FOR VALUES FROM (MINVALUE) TO ('2024-01-01');
ALTER TABLE visits ADD COLUMN seconds int, ALTER COLUMN page TYPE varchar(90);
ALTER TABLE visits DETACH PARTITION visits_2024;
ALTER TABLE visits ADD COLUMN browser text;

CREATE TABLE keys (id int PRIMARY KEY, at timestamp(0));
CREATE TABLE names (name text NOT NULL, at timestamp(0) NOT NULL);
CREATE TABLE people (born date, name text DEFAULT 'x', id int) INHERITS (keys, names);
CREATE TABLE guests () INHERITS (names) WITH (fillfactor = 50);
CREATE TABLE later (name text NOT NULL, at timestamp(0) NOT NULL, own int);
ALTER TABLE later INHERIT names;
ALTER TABLE names ADD COLUMN rank smallint;
ALTER TABLE ONLY names ALTER COLUMN name SET DEFAULT 'y';
ALTER TABLE later NO INHERIT names;
ALTER TABLE names ADD COLUMN last int;
