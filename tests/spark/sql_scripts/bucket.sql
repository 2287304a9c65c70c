create table bk (
  id bigint comment 'key', name string, ts timestamp, dt date
) using hudi
options (
  'type' = 'mor', 'primaryKey' = 'id', 'preCombineField' = 'ts',
  'hoodie.index.type' = 'BUCKET', 'hoodie.index.bucket.engine' = 'SIMPLE', 'hoodie.bucket.index.num.buckets' = '4', 'hoodie.bucket.index.hash.field' = 'id',
  'hoodie.datasource.hive_sync.enable' = 'false', 'hoodie.cleaner.commits.retained' = '3', 'hoodie.compact.inline' = 'true', 'hoodie.compact.inline.max.delta.commits' = '2',
  'hoodie.datasource.write.hive_style_partitioning'='true', 'hoodie.archive.merge.enable'='true', 'hoodie.cleaner.policy'='KEEP_LATEST_COMMITS'
)
partitioned by (dt)
comment 'orders'
location '${base}/bk';
insert into bk select id, concat('n', id), timestamp'2023-01-01 00:00:00', date'2023-01-01' from range(10);
--> 10	10	0	0	0	<instant>
merge into bk using (select 3L as id, 'changed' as name, timestamp'2023-01-02 00:00:00' as ts, date'2023-01-01' as dt) s on bk.id = s.id and bk.dt = s.dt when matched then update set * when not matched then insert *;
--> 1	0	1	0	NULL	<instant>
select name, ts, dt from bk where id = 3;
--> changed	2023-01-02 00:00:00	2023-01-01
