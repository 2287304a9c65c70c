create database if not exists sales comment 'orders and their lines';
use sales;
create table orders (order_id int, customer string, amount decimal(12,2), updated_at timestamp) using hudi
tblproperties (primaryKey = 'order_id', preCombineField = 'updated_at', 'hoodie.datasource.write.operation' = 'upsert');
insert into sales.orders values (1, 'ann', 10.50, timestamp'2023-05-01 08:00:00'), (2, 'bob', 20.00, timestamp'2023-05-01 09:00:00');
--> 2	2	0	0	0	<instant>
create or replace view big_orders as select order_id, amount from sales.orders where amount > 15;
create temporary view latest as select max(updated_at) as at from orders;
select * from big_orders;
--> 2	20.00
insert into orders with more as (select 3 as order_id, 'cid' as customer, 99.99 as amount, timestamp'2023-05-02 00:00:00' as updated_at) select * from more;
--> 1	1	0	0	0	<instant>
insert into orders (order_id, customer, amount, updated_at) select order_id + 10, customer, amount, updated_at from orders where order_id = 3;
--> 1	1	0	0	0	<instant>
select * from big_orders order by order_id;
--> 2	20.00
--> 3	99.99
--> 13	99.99
select at from latest;
--> 2023-05-02 00:00:00
create table customers using parquet as select * from values ('ann', 'lima'), ('bob', 'oslo') as t(customer, city);
select o.order_id, c.city from sales.orders o left join sales.customers c using (customer) order by 1;
--> 1	lima
--> 2	oslo
--> 3	NULL
--> 13	NULL
select customer, sum(amount) as total from orders group by customer having total > 15 order by total desc limit 2;
--> cid	199.98
--> bob	20.00
show tables in sales like 'o*';
--> orders
drop view big_orders;
drop table if exists sales.orders purge;
show tables in sales like 'o*';
