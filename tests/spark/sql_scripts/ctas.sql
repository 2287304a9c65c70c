create table src_pq (id int, name string, price double, ts bigint, dt string) using parquet location '${base}/src_pq';
insert into src_pq values (1,'a1',10.0,1000,'2021-12-09'),(2,'a2',20.0,1000,'2021-12-10');
create table ctas_cow using hudi
tblproperties (type='cow', primaryKey='id', preCombineField='ts')
partitioned by (dt)
as select id, name, price, ts, dt from parquet.`${base}/src_pq`;
--> 2	2	0	0	0	<instant>
select id, name, price, dt from ctas_cow order by id;
--> 1	a1	10.0	2021-12-09
--> 2	a2	20.0	2021-12-10
create table ctas_nk using hudi as select 1 as id, 'a1' as name, 10 as price;
--> 1	1	0	0	0	<instant>
select id, name, price from ctas_nk;
--> 1	a1	10
create table ctas_mor using hudi options (type='mor', primaryKey='id', preCombineField='ts') location '${base}/ctas_mor' as select * from src_pq;
--> 2	2	0	0	0	<instant>
select count(*) from ctas_mor;
--> 2
create table if not exists ctas_mor using hudi as select 1 as id;
show create table ctas_cow;
--> CREATE TABLE spark_catalog.default.ctas_cow (
-->   _hoodie_commit_time STRING,
-->   _hoodie_commit_seqno STRING,
-->   _hoodie_record_key STRING,
-->   _hoodie_partition_path STRING,
-->   _hoodie_file_name STRING,
-->   id INT,
-->   name STRING,
-->   price DOUBLE,
-->   ts BIGINT,
-->   dt STRING)
--> USING hudi
--> PARTITIONED BY (dt)
--> TBLPROPERTIES (
-->   'preCombineField' = 'ts',
-->   'primaryKey' = 'id',
-->   'type' = 'cow')
--> 
describe ctas_nk;
--> _hoodie_commit_time 	string
--> _hoodie_commit_seqno	string
--> _hoodie_record_key  	string
--> _hoodie_partition_path	string
--> _hoodie_file_name   	string
--> id                  	int
--> name                	string
--> price               	int
