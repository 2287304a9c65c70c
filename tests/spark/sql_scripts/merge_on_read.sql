create table m (id int, name string, price double, ts bigint) using hudi tblproperties (type='mor', primaryKey='id', preCombineField='ts') location '${base}/m';
insert into m values (1,'a',1.0,1);
--> 1	1	0	0	0	<instant>
update m set price = 5.0 where id = 1;
--> 1	0	1	0	NULL	<instant>
create table m_ro using hudi options ('hoodie.query.as.ro.table'='true') location '${base}/m';
create table m_rt using hudi options ('hoodie.query.as.ro.table'='false') location '${base}/m';
select price from m_ro;
--> 1.0
select price from m_rt;
--> 5.0
set hoodie.datasource.query.type=read_optimized;
--> hoodie.datasource.query.type	read_optimized
select price from m;
--> 1.0
set hoodie.datasource.query.type=snapshot;
--> hoodie.datasource.query.type	snapshot
select price from m;
--> 5.0
select price from hudi_query('m', 'read_optimized');
--> 1.0
create table ext using hudi location '${base}/m';
select id, name, price from ext;
--> 1	a	5.0
select price from hudi.`${base}/m`;
--> 5.0
drop table ext;
drop table m purge;
