create table kl (id int, name string, price decimal(10,2), d date, t timestamp, tags array<string>, attrs map<string,int>, loc struct<lat:double comment 'north', lon:double> comment 'place') using hudi;
insert into kl values (1,'a',1.10,date'2023-01-01',timestamp'2023-01-01 10:00:00',array('x','y'),map('k',1),named_struct('lat',1.0,'lon',2.0));
--> 1	1	0	0	0	<instant>
insert into kl (id, name, price) values (2,'b',2.20);
--> 1	1	0	0	0	<instant>
update kl set price = 9.99 where id = 1;
--> 1	0	1	0	0	<instant>
delete from kl where id = 2;
--> 1	0	0	1	0	<instant>
select id,name,price,d,t,tags,attrs,loc from kl;
--> 1	a	9.99	2023-01-01	2023-01-01 10:00:00	["x","y"]	{"k":1}	{"lat":1.0,"lon":2.0}
describe kl;
--> _hoodie_commit_time 	string
--> _hoodie_commit_seqno	string
--> _hoodie_record_key  	string
--> _hoodie_partition_path	string
--> _hoodie_file_name   	string
--> id                  	int
--> name                	string
--> price               	decimal(10,2)
--> d                   	date
--> t                   	timestamp
--> tags                	array<string>
--> attrs               	map<string,int>
--> loc                 	struct<lat:double,lon:double>	place
create or replace table kl (id int) using hudi;
create table kl2 like kl using hudi;
analyze table kl compute statistics;
cache table kl;
refresh table kl;
uncache table kl;
