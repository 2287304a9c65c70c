create table pr (id int, name string, price double, ts bigint) using hudi tblproperties (type='cow', primaryKey='id', preCombineField='ts') location '${base}/pr';
insert into pr values (1,'a',1.0,1);
--> 1	1	0	0	0	<instant>
insert into pr values (2,'a',1.0,1);
--> 1	1	0	0	0	<instant>
call create_savepoint(table => 'pr', comments => 'now');
--> true
call show_savepoints(table => 'pr');
--> <instant>
call stats_wa(table => 'pr', limit => 10);
--> <instant>	0	2	0
--> <instant>	0	1	0
--> Total	0	3	0
call upgrade_table(table => 'pr', to_version => 'NINE');
--> true
call downgrade_table(table => 'pr', to_version => 'EIGHT');
--> true
call archive_commits(table => 'pr', min_commits => 2, max_commits => 3, retain_commits => 1);
--> 0
call show_archived_commits(table => 'pr');
call validate_metadata_table_files(table => 'pr');
call show_invalid_parquet(path => '${base}/pr');
call show_rollbacks(table => 'pr');
call copy_to_table(table => 'pr', new_table => 'pr_copy');
--> 0
call copy_to_temp_view(table => 'pr', query_type => 'snapshot', view_name => 'v1', begin_instance_time => '', end_instance_time => '', as_of_instant => '', replace => true, global => false);
--> 0
select id from v1 order by id;
--> 1
--> 2
call commits_compare(table => 'pr', path => '${base}/pr');
--> Source pr is ahead by 0 commits. Commits to catch up - []
call delete_marker(table => 'pr', instant_time => '20200101000000');
--> true
