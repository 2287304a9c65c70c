create table tt (id int, price double, ts bigint) using hudi tblproperties (primaryKey='id', preCombineField='ts');
insert into tt values (1, 1.0, 1);
--> 1	1	0	0	0	<instant>
update tt set price = 2.0 where id = 1;
--> 1	0	1	0	0	<instant>
select price from tt;
--> 2.0
select price from tt timestamp as of '2099-01-01';
--> 2.0
select price from tt timestamp as of '2099-01-01 10:00:00.123';
--> 2.0
select price from tt version as of '20990101000000';
--> 2.0
declare or replace variable first_commit string;
set var first_commit = (select min(_hoodie_commit_time) from hudi_query('tt', 'snapshot'));
select count(*) from hudi_table_changes('tt', 'latest_state', 'earliest');
--> 1
select count(*) from tt timestamp as of '2001-01-01';
--> 0
