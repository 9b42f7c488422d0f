REM made by hand
SET DEFINE OFF
create table visits (
  id      integer,
  key     varchar(10),
  "Quoted" decimal(10, 2) not null,
  amount  double precision,
  c#      int,
  hundreds number(10, -2),
  said    varchar2(20) default q'[it's]' not null
)
/
comment on table visits is 'who came'
/
comment on column visits.key is 'by which door';
alter table visits add constraint visits_pk primary key (id) using index tablespace users;
alter table visits modify (key not null enable, amount number(12,3));
alter table visits add (more number(3), less date default sysdate not null) logging;
create or replace view seen as select * from visits;
create global temporary table scratch (a int) on commit delete rows;
