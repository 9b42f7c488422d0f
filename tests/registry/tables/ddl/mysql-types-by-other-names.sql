-- every name that the server stores as another
create table if not exists shop.names (
  a integer, b int4 unsigned, c int8, d bool not null, e boolean, f numeric(6, 3), g dec(5), h decimal, i fixed(4,1),
  j double precision, k real, l float(30), m float(24), n character(3), o char, p national varchar(20),
  q nchar varying(9), r long varchar, s long varbinary, t serial, u year(4), v int zerofill, w int signed,
  x DECIMAL ( 12 , 2 ) UNSIGNED, y CHAR VARYING(7) BINARY, z text(200), aa enum("new", "it's", 'old')
);
