create table chg (id int, name string, price double, ts bigint) using hudi
tblproperties (type='cow', primaryKey='id', preCombineField='ts', 'hoodie.table.cdc.enabled'='true', 'hoodie.table.cdc.supplemental.logging.mode'='data_before_after')
location '${base}/chg';
insert into chg values (1,'a',1.0,1),(2,'b',2.0,1);
--> 2	2	0	0	0	<instant>
update chg set price = price * 10 where id = 1;
--> 1	0	1	0	0	<instant>
delete from chg where id = 2;
--> 1	0	0	1	0	<instant>
select op, get_json_object(before,'$.price'), get_json_object(after,'$.price') from hudi_table_changes('chg','cdc','earliest') order by ts_ms, op, 2;
--> i	NULL	1.0
--> i	NULL	2.0
--> u	1.0	10.0
--> d	2.0	NULL
select id, price from hudi_table_changes('chg','latest_state','earliest');
--> 1	10.0
