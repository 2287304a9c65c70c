SET hoodie.sql.insert.mode = strict;
--> hoodie.sql.insert.mode	strict
set hoodie.sql.bulk.insert.enable=true;
--> hoodie.sql.bulk.insert.enable	true
set hoodie.sql.insert.mode=non-strict;
--> hoodie.sql.insert.mode	non-strict
set hoodie.insert.shuffle.parallelism=2;
--> hoodie.insert.shuffle.parallelism	2
set hoodie.upsert.shuffle.parallelism = 2;
--> hoodie.upsert.shuffle.parallelism	2
set hoodie.delete.shuffle.parallelism=2;
--> hoodie.delete.shuffle.parallelism	2
set hoodie.parquet.max.file.size=125829120;
--> hoodie.parquet.max.file.size	125829120
create table st (id int, v int, ts bigint) using hudi tblproperties (primaryKey='id', preCombineField='ts');
insert into st select id, id * 2, 1 from range(5);
--> 5	5	0	0	0	<instant>
set hoodie.sql.bulk.insert.enable=false;
--> hoodie.sql.bulk.insert.enable	false
set hoodie.spark.sql.insert.into.operation=upsert;
--> hoodie.spark.sql.insert.into.operation	upsert
insert into st values (1, 100, 2);
--> 1	0	1	0	0	<instant>
select sum(v) from st;
--> 118
set hoodie.spark.sql.insert.into.operation;
--> hoodie.spark.sql.insert.into.operation	upsert
reset hoodie.spark.sql.insert.into.operation;
set hoodie.datasource.write.operation=delete;
--> hoodie.datasource.write.operation	delete
