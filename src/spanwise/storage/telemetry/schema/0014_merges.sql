-- By default only large merges are done column by column; others buffer all columns at once. A merge
-- of traces took 200 MB and takes 20 column by column.
ALTER TABLE spans MODIFY SETTING vertical_merge_algorithm_min_rows_to_activate = 8192;
ALTER TABLE traces MODIFY SETTING vertical_merge_algorithm_min_rows_to_activate = 8192,
    max_compress_block_size = 262144;
