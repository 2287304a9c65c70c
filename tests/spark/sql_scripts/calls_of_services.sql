create table pr (id int, name string, price double, ts bigint) using hudi tblproperties (type='mor', primaryKey='id', preCombineField='ts', 'hoodie.compact.inline'='false') location '${base}/pr';
insert into pr values (1,'a',1.0,1);
--> 1	1	0	0	0	<instant>
update pr set price = 2 where id = 1;
--> 1	0	1	0	NULL	<instant>
update pr set price = 3 where id = 1;
--> 1	0	1	0	NULL	<instant>
call show_commits(table => 'pr', limit => 10);
--> <instant>	<instant>	deltacommit	<bytes>	0	1	1	1	1	0
--> <instant>	<instant>	deltacommit	<bytes>	0	1	1	1	1	0
--> <instant>	<instant>	deltacommit	<bytes>	1	0	1	1	0	0
call run_compaction(op => 'schedule', table => 'pr');
--> <instant>	1	REQUESTED
call show_compaction(table => 'pr');
--> <instant>	1	REQUESTED
call run_compaction(op => 'run', path => '${base}/pr');
--> <instant>	1	COMPLETED
call run_clustering(table => 'pr', order => 'price');
--> <instant>	1	COMPLETED	*
call show_clustering(table => 'pr');
--> <instant>	1	COMPLETED	*
call run_clean(table => 'pr', retain_commits => 1);
call create_savepoint(table => "pr");
--> true
call show_savepoints(table => 'pr');
--> <instant>
