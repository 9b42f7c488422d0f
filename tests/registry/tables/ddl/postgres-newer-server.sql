-- What servers of version 18 print and take: NOT NULL as a constraint with a name, and columns computed when read.
\connect shop
CREATE TABLE public.orders (
    id bigint CONSTRAINT orders_id_set NOT NULL,
    total numeric(10,2),
    made timestamp without time zone,
    twice numeric GENERATED ALWAYS AS ((total * (2)::numeric)),
    CONSTRAINT orders_total_set NOT NULL total NO INHERIT
);
ALTER TABLE public.orders ADD CONSTRAINT orders_made_set NOT NULL made NOT VALID;
COPY public.orders (id) FROM stdin;
1	'; CREATE TABLE x (
\.
ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id, made WITHOUT OVERLAPS);
COPY public.orders (id) FROM stdin;
2	" a copy that was cut off
