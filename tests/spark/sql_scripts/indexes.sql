create table ix (ts bigint, id string, rider string, driver string, fare double, city string) using hudi
options (primaryKey='id', preCombineField='ts', hoodie.write.record.merge.mode='EVENT_TIME_ORDERING', hoodie.metadata.record.index.enable='true')
partitioned by (city);
insert into ix values (1695159649,'i1','A','K',19.1,'sf'),(1695091554,'i2','B','M',27.7,'sf'),(1695332066,'i3','C','L',33.9,'sp');
--> 3	3	0	0	0	<instant>
create index idx_rider on ix (rider);
create index idx_column_ts on ix using column_stats(ts) options(expr='from_unixtime', format='yyyy-MM-dd');
create index idx_bloom_driver on ix using bloom_filters(driver) options(expr='identity');
create index if not exists idx_rider on ix (rider);
show indexes from ix;
--> column_stats	column_stats
--> expr_index_idx_bloom_driver	bloom_filters	driver
--> expr_index_idx_column_ts	column_stats	ts
--> partition_stats	partition_stats
--> record_index	record_index
--> secondary_index_idx_rider	secondary_index	rider
show indexes in ix;
--> column_stats	column_stats
--> expr_index_idx_bloom_driver	bloom_filters	driver
--> expr_index_idx_column_ts	column_stats	ts
--> partition_stats	partition_stats
--> record_index	record_index
--> secondary_index_idx_rider	secondary_index	rider
set hoodie.metadata.enable=true;
--> hoodie.metadata.enable	true
set hoodie.enable.data.skipping=true;
--> hoodie.enable.data.skipping	true
select id, fare from ix where rider = 'B';
--> i2	27.7
select id from ix where from_unixtime(ts, 'yyyy-MM-dd') = '2023-09-20';
drop index idx_bloom_driver on ix;
drop index if exists idx_nothing on ix;
refresh index idx_rider on ix;
show indexes from ix;
--> column_stats	column_stats
--> expr_index_idx_column_ts	column_stats	ts
--> partition_stats	partition_stats
--> record_index	record_index
--> secondary_index_idx_rider	secondary_index	rider
