set hoodie.spark.sql.merge.into.partial.updates=true;
--> hoodie.spark.sql.merge.into.partial.updates	true
set hoodie.spark.sql.optimized.merge.enable=true;
--> hoodie.spark.sql.optimized.merge.enable	true
create table part (id int, name string, price double, qty int, ts bigint) using hudi
tblproperties (type='mor', primaryKey='id', preCombineField='ts', 'hoodie.record.merge.mode'='EVENT_TIME_ORDERING');
insert into part values (1,'a',1.0,10,100),(2,'b',2.0,20,100);
--> 2	2	0	0	0	<instant>
merge into part t using (select 1 as id, 1.5 as price, 101 as ts) s on t.id=s.id
when matched then update set price = s.price, ts = s.ts;
--> 1	0	1	0	NULL	<instant>
merge into part t using (select 2 as k, 99 as q, 50 as ts) s on t.id=s.k
when matched then update set qty = s.q, ts = s.ts;
--> 1	0	1	0	NULL	<instant>
select id,name,price,qty,ts from part order by id;
--> 1	a	1.5	10	101
--> 2	b	2.0	20	100
create table pu (id int, name string, price double, ts bigint) using hudi tblproperties (type='cow', primaryKey='id', preCombineField='ts',
 hoodie.datasource.write.payload.class='org.apache.hudi.common.model.PartialUpdateAvroPayload');
set hoodie.spark.sql.insert.into.operation=upsert;
--> hoodie.spark.sql.insert.into.operation	upsert
insert into pu values (1,'a',1.0,1);
--> 1	1	0	0	0	<instant>
insert into pu values (1,null,2.0,2);
--> 1	0	1	0	0	<instant>
select id,name,price,ts from pu;
--> 1	a	2.0	2
