"""Commands that read a table and change nothing. `ls` and `show` load neither pyarrow nor what writes, so that they answer at once."""
