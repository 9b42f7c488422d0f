create table a (id int);
create table b (
  id int comment 'never closed
);
