create table target (id int, name string, price double, ts bigint, dt string) using hudi
tblproperties (type='mor', primaryKey='id', preCombineField='ts') partitioned by (dt);
insert into target values (1,'a1',10,1000,'d1'),(2,'a2',20,1000,'d1'),(3,'a3',30,1000,'d2'),(4,'a4',40,1000,'d2');
--> 4	4	0	0	0	<instant>
create table source (id int, name string, price double, ts bigint, dt string, flag string) using parquet;
insert into source values (1,'b1',11,1100,'d1','U'),(2,'b2',22,1100,'d1','D'),(5,'b5',55,1100,'d3','I'),(3,'b3',33,900,'d2','U');
merge into target as t
using (select * from source) s
on t.id = s.id
when matched and s.flag = 'D' then delete
when matched and s.flag = 'U' then update set *
when not matched and s.flag = 'I' then insert *
;
--> 4	1	2	1	NULL	<instant>
select id, name, price, ts, dt from target order by id;
--> 1	b1	11.0	1100	d1
--> 3	a3	30.0	1000	d2
--> 4	a4	40.0	1000	d2
--> 5	b5	55.0	1100	d3
merge into target t using source s on t.id = s.id
when matched then update set t.price = s.price + t.price, t.ts = s.ts
when not matched then insert (id, name, price, ts, dt) values (s.id, concat(s.name, '-new'), s.price, s.ts, s.dt)
when not matched by source then delete;
--> 5	0	4	1	NULL	<instant>
select id, name, price, ts, dt from target order by id;
--> 1	b1	22.0	1100	d1
--> 2	b2-new	22.0	1100	d1
--> 3	a3	30.0	1000	d2
--> 5	b5	110.0	1100	d3
with incoming as (select 9 as id, 'c9' as name, 90.0 as price, 2000L as ts, 'd9' as dt)
merge into target t using incoming on t.id = incoming.id when not matched then insert *;
--> 1	1	0	0	0	<instant>
select count(*) from target;
--> 5
