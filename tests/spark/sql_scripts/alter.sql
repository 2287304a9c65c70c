create table ev (id bigint, name string, price int, ts bigint, info struct<a:int, b:string>) using hudi tblproperties (type='mor', primaryKey='id', preCombineField='ts');
insert into ev values (1,'a',10,1,named_struct('a',1,'b','x'));
--> 1	1	0	0	0	<instant>
alter table ev add columns (ext0 string);
set hoodie.schema.on.read.enable=true;
--> hoodie.schema.on.read.enable	true
alter table ev add columns (ext1 string comment 'note' after name);
alter table ev add columns (info.c double);
alter table ev alter column price type double;
alter table ev alter column ext0 comment 'zero';
alter table ev alter ext0 drop not null;
alter table ev rename column name to full_name;
alter table ev rename column info.a to aa;
alter table ev drop column ext1;
alter table ev drop columns (ext0);
alter table ev change column ts ts bigint comment 'time';
insert into ev values (2,'b',2.5,2,named_struct('aa',2,'b','y','c',0.5));
--> 1	1	0	0	0	<instant>
select id, full_name, price, ts, info from ev order by id;
--> 1	a	10.0	1	{"aa":1,"b":"x","c":null}
--> 2	b	2.5	2	{"aa":2,"b":"y","c":0.5}
alter table ev rename to ev2;
alter table ev2 set tblproperties ('hoodie.keep.max.commits'='40', 'note'='x');
alter table ev2 unset tblproperties ('note');
describe ev2;
--> _hoodie_commit_time 	string
--> _hoodie_commit_seqno	string
--> _hoodie_record_key  	string
--> _hoodie_partition_path	string
--> _hoodie_file_name   	string
--> id                  	bigint
--> full_name           	string
--> price               	double
--> ts                  	bigint              	time
--> info                	struct<aa:int,b:string,c:double>
