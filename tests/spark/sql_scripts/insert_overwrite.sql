create table io (id int, name string, ts bigint, dt string, hh string) using hudi tblproperties (type='cow', primaryKey='id', preCombineField='ts') partitioned by (dt, hh);
insert into io partition (dt, hh) select 1, 'a', 1000, '2021-12-09', '10';
--> 1	1	0	0	0	<instant>
insert into io partition (dt='2021-12-09', hh='11') select 2, 'b', 1000;
--> 1	1	0	0	0	<instant>
insert into io select 3, 'c', 1000, '2021-12-10', '10';
--> 1	1	0	0	0	<instant>
insert overwrite io partition (dt='2021-12-09', hh='11') select 12, 'b2', 1100;
--> 1	1	0	0	0	<instant>
select id, name, dt, hh from io order by id;
--> 1	a	2021-12-09	10
--> 3	c	2021-12-10	10
--> 12	b2	2021-12-09	11
insert overwrite table io partition (dt, hh) select 13, 'c2', 1200, '2021-12-10', '10';
--> 1	1	0	0	0	<instant>
select id, name, dt, hh from io order by id;
--> 1	a	2021-12-09	10
--> 12	b2	2021-12-09	11
--> 13	c2	2021-12-10	10
set hoodie.datasource.overwrite.mode=dynamic;
--> hoodie.datasource.overwrite.mode	dynamic
insert overwrite io select 11, 'a2', 1300, '2021-12-09', '10';
--> 1	1	0	0	0	<instant>
select id, name, dt, hh from io order by id;
--> 11	a2	2021-12-09	10
--> 12	b2	2021-12-09	11
--> 13	c2	2021-12-10	10
set hoodie.datasource.overwrite.mode=static;
--> hoodie.datasource.overwrite.mode	static
insert overwrite table io values (99, 'z', 1, '2022-01-01', '00');
--> 1	1	0	0	0	<instant>
select id, name, dt, hh from io order by id;
--> 99	z	2022-01-01	00
insert overwrite table io partition (dt, hh) values (98, 'y', 1, '2022-01-01', '01');
--> 1	1	0	0	0	<instant>
select id, name, dt, hh from io order by id;
--> 98	y	2022-01-01	01
alter table io drop partition (dt='2022-01-01', hh='01');
select count(*) from io;
--> 0
truncate table io;
show partitions io;
