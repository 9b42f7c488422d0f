CREATE TABLE "SHOP"."ORDERS" (
  "ID" NUMBER(9) NOT NULL,
  "id" VARCHAR2(9),
  id2 NUMBER(3),
  "a.b" NUMBER(3,1),
  "say ""yes""" DATE,
  " `x` " CHAR(2),
  "_op" VARCHAR2(1),
  PRIMARY KEY (id)
);
CREATE TABLE T (A NUMBER(1), "A" NUMBER(2));
