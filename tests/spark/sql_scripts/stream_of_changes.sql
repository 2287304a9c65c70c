-- rows of a change stream, as Debezium and DMS write them, folded into a table
create table landing (op string, id int, name string, lsn bigint) using json location '${base}/landing';
insert into landing values ('c', 1, 'ann', 1), ('c', 2, 'bob', 2), ('u', 1, 'anna', 3), ('d', 2, 'bob', 4), ('c', 3, 'cid', 5);
create table current (id int, name string, lsn bigint) using hudi
options (primaryKey = 'id', preCombineField = 'lsn', type = 'mor')
location '${base}/current';
merge into current as target
using (
  select id, name, lsn, op from (
    select *, row_number() over (partition by id order by lsn desc) as n from landing
  ) where n = 1
) as source
on target.id = source.id
when matched and source.op = 'd' then delete
when matched then update set target.name = source.name, target.lsn = source.lsn
when not matched and source.op != 'd' then insert (id, name, lsn) values (source.id, source.name, source.lsn);
--> 2	2	0	0	0	<instant>
select id, name, lsn from current order by id;
--> 1	anna	3
--> 3	cid	5
insert overwrite landing values ('u', 3, 'cyd', 6), ('d', 1, 'anna', 7), ('u', 3, 'old', 2);
merge into current as target using (select id, max_by(name, lsn) as name, max(lsn) as lsn, max_by(op, lsn) as op from landing group by id) as source
on source.id = target.id
when matched and source.op = 'd' then delete
when matched then update set *
when not matched then insert *;
--> 2	0	1	1	NULL	<instant>
select id, name, lsn from current order by id;
--> 3	cyd	6
select count(*) from hudi_table_changes('current', 'latest_state', 'earliest');
--> 1
