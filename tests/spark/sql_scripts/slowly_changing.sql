create or replace temporary view updates as select * from values (1,'lima',2),(3,'oslo',2) as t(id, city, v);
create table dim (sk string, id int, city string, v int, is_current boolean, valid_from date, valid_to date) using hudi tblproperties (primaryKey='sk');
insert into dim select concat(id,'-',v), id, city, v, true, date'2020-01-01', null from values (1,'rome',1),(2,'bonn',1) as t(id,city,v);
--> 2	2	0	0	0	<instant>
merge into dim d using (
  select u.id as mk, u.*, concat(u.id,'-',u.v) as sk from updates u
  union all
  select null as mk, u.*, concat(u.id,'-',u.v) as sk from updates u join dim d on d.id = u.id where d.is_current and d.city <> u.city
) s on d.id = s.mk and d.is_current
when matched and d.city <> s.city then update set is_current = false, valid_to = date'2021-01-01'
when not matched then insert (sk,id,city,v,is_current,valid_from,valid_to) values (s.sk,s.id,s.city,s.v,true,date'2021-01-01',null);
--> 3	2	1	0	0	<instant>
select sk, city, is_current, valid_from, valid_to from dim order by sk;
--> 1-1	rome	false	2020-01-01	2021-01-01
--> 1-2	lima	true	2021-01-01	NULL
--> 2-1	bonn	true	2020-01-01	NULL
--> 3-2	oslo	true	2021-01-01	NULL
with ranked as (select *, row_number() over (partition by id order by v desc) rn from dim) select id, city from ranked where rn = 1 order by id;
--> 1	lima
--> 2	bonn
--> 3	oslo
delete from dim where id in (select id from updates);
--> 3	0	0	3	0	<instant>
update dim set city = (select max(city) from updates);
--> 1	0	1	0	0	<instant>
select city from dim;
--> oslo
