-- first steps: a copy-on-write table
create database if not exists shop;
use shop;
drop table if exists trips_cow;
create table trips_cow (
  ts bigint,
  uuid string,
  rider string,
  driver string,
  fare double,
  city string
) using hudi
tblproperties (
  type = 'cow',
  primaryKey = 'uuid',
  preCombineField = 'ts'
)
partitioned by (city)
location '${base}/trips_cow';

insert into trips_cow values
  (1695159649087, 'u1', 'rider-A', 'driver-K', 19.10, 'san_francisco'),
  (1695091554788, 'u2', 'rider-C', 'driver-M', 27.70, 'san_francisco'),
  (1695516137016, 'u3', 'rider-F', 'driver-P', 34.15, 'sao_paulo');
--> 3	3	0	0	0	<instant>
select ts, fare, rider, driver, city from trips_cow where fare > 20.0 order by fare;
--> 1695091554788	27.7	rider-C	driver-M	san_francisco
--> 1695516137016	34.15	rider-F	driver-P	sao_paulo
update trips_cow set fare = 25.0 where rider = 'rider-C';
--> 1	0	1	0	0	<instant>
delete from trips_cow where uuid = 'u3';
--> 1	0	0	1	0	<instant>
select rider, fare from trips_cow order by rider;
--> rider-A	19.1
--> rider-C	25.0
show partitions trips_cow;
--> city=san_francisco
--> city=sao_paulo
describe trips_cow;
--> _hoodie_commit_time 	string
--> _hoodie_commit_seqno	string
--> _hoodie_record_key  	string
--> _hoodie_partition_path	string
--> _hoodie_file_name   	string
--> ts                  	bigint
--> uuid                	string
--> rider               	string
--> driver              	string
--> fare                	double
--> city                	string
--> # Partition Information
--> # col_name          	data_type           	comment
--> city                	string
show tables;
--> trips_cow
