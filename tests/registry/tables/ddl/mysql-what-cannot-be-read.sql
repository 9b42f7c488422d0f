create table a like b;
create table c as select 1;
create table d (x int, x int);
create table e (x int, primary key (y));
create table f (x);
create table g (x int
);
create table g (x int);
alter table g drop column x;
alter table g add index i (x), add constraint u unique (x);
alter table nowhere add column z int;
alter table nowhere add index i (z);
create table h (
  x int,
  y int not null
