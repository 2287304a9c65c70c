set hivevar:day=2023-01-01;
--> hivevar:day	2023-01-01
set mytable=vt;
--> mytable	vt
create table ${hiveconf:mytable} (id int, dt string) using hudi tblproperties (primaryKey='id');
insert into ${mytable} values (1, '${day}');
--> 1	1	0	0	0	<instant>
select id, dt from ${mytable} where dt = '${hivevar:day}';
--> 1	2023-01-01
select '${missing}' as m;
--> 
set spark.sql.variable.substitute=false;
--> spark.sql.variable.substitute	false
select '${day}' as d;
--> ${day}
