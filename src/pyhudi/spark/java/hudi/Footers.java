package hudi;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.parquet.HadoopReadOptions;
import org.apache.parquet.filter2.compat.FilterCompat;
import org.apache.parquet.filter2.compat.RowGroupFilter;
import org.apache.parquet.filter2.predicate.FilterApi;
import org.apache.parquet.filter2.predicate.FilterPredicate;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnPath;
import org.apache.parquet.hadoop.metadata.ParquetMetadata;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.parquet.internal.filter2.columnindex.ColumnIndexFilter;
import org.apache.parquet.internal.filter2.columnindex.RowRanges;
import org.apache.parquet.schema.MessageType;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFilters;
import org.apache.spark.sql.execution.datasources.parquet.ParquetReadSupport;
import org.apache.spark.sql.execution.datasources.parquet.VectorizedParquetRecordReader;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import org.apache.spark.util.TaskCompletionListener;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

/** Skeletons, and what footers and page indexes of Parquet files say: the footer of a file is read once. Tasks get it from the driver. */
final class Footers implements Serializable {
    private final Broadcast hadoop;
    private final String stored;
    private final int batchRows;
    private final Seq filters;

    /**
     * Takes settings that a reader of Spark was made with, and the columns that are read of a skeleton.
     *
     * <p>Filters are those of these columns; empty where no row of a skeleton is left out.
     */
    Footers(SparkContext context, Configuration hadoop, StructType stored, int batchRows, Seq filters) {
        this.hadoop = SerializableConfiguration.broadcast(context, hadoop);
        this.stored = stored.json();
        this.batchRows = batchRows;
        this.filters = filters;
    }

    boolean isFiltered() {
        return !this.filters.isEmpty();
    }

    /** Returns the number of rows of a file. */
    long rows(Path path) throws IOException {
        ParquetFileReader reader = open(HadoopInputFile.fromPath(path, settings()));
        try {
            return reader.getRecordCount();
        } finally {
            reader.close();
        }
    }

    /** Returns a skeleton with its batches in the form of Spark's reader, or null where none of its rows may pass the filters. */
    Skeleton skeleton(Path path, String sourceName) throws IOException, InterruptedException {
        HadoopInputFile file = HadoopInputFile.fromPath(path, settings());
        ParquetFileReader reader = open(file);
        ParquetMetadata footer;
        long[] span;
        try {
            footer = reader.getFooter();
            FilterCompat.Filter filter = isFiltered() ? filter(footer.getFileMetaData().getSchema()) : null;
            span = filter == null ? new long[] {reader.getRecordCount(), 0, Long.MAX_VALUE} : span(reader, filter);
        } finally {
            reader.close();
        }
        return span[2] < 0 ? null : new Skeleton(path.toString(), sourceName, batches(file, footer), span);
    }

    private VectorizedParquetRecordReader batches(HadoopInputFile file, ParquetMetadata footer) throws IOException, InterruptedException {
        Configuration settings = new Configuration(settings());
        settings.set(ParquetReadSupport.SPARK_ROW_REQUESTED_SCHEMA(), this.stored);
        TaskAttemptID attempt = new TaskAttemptID(new TaskID(new JobID(), TaskType.MAP, 0), 0);
        final VectorizedParquetRecordReader reader = new VectorizedParquetRecordReader(false, this.batchRows);
        TaskContext.get().addTaskCompletionListener(new TaskCompletionListener() {
            public void onTaskCompletion(TaskContext context) {
                try {
                    reader.close();
                } catch (IOException error) {
                    throw new UncheckedIOException(error);
                }
            }
        });
        FileSplit all = new FileSplit(file.getPath(), 0L, file.getLength(), new String[0]);
        reader.initialize(
                all, new TaskAttemptContextImpl(settings, attempt), Option.apply(file), Option.apply(file.newStream()), Option.apply(footer));
        reader.initBatch(new StructType(), InternalRow.empty());
        reader.enableReturningBatches();
        return reader;
    }

    private static long[] span(ParquetFileReader reader, FilterCompat.Filter filter) {
        MessageType schema = reader.getFileMetaData().getSchema();
        Set columns = new HashSet();
        for (int i = 0; i < schema.getFieldCount(); i++) {
            columns.add(ColumnPath.get(new String[] {schema.getFieldName(i)}));
        }
        List groups = reader.getRowGroups();
        long[] result = new long[] {0, -1, -1};
        for (int i = 0; i < groups.size(); i++) {
            BlockMetaData group = (BlockMetaData) groups.get(i);
            if (!RowGroupFilter.filterRowGroups(filter, Collections.singletonList(group), schema).isEmpty()) {
                RowRanges ranges = ColumnIndexFilter.calculateRowRanges(filter, reader.getColumnIndexStore(i), columns, group.getRowCount());
                List parts = ranges.getRanges();
                if (!parts.isEmpty()) {
                    long first = result[0] + ((RowRanges.Range) parts.get(0)).from;
                    result[1] = result[1] < 0 ? first : result[1];
                    result[2] = result[0] + ((RowRanges.Range) parts.get(parts.size() - 1)).to;
                }
            }
            result[0] += group.getRowCount();
        }
        return result;
    }

    /** Returns the filters in Parquet's form, or null where it has none for them. */
    private FilterCompat.Filter filter(MessageType schema) {
        // Of texts alone: what it says of dates and numbers of times is not asked for.
        ParquetFilters parquet = new ParquetFilters(schema, false, false, false, true, 10, true, null);
        FilterPredicate all = null;
        for (Iterator each = this.filters.iterator(); each.hasNext();) {
            Option one = parquet.createFilter((Filter) each.next());
            if (one.isDefined()) {
                all = all == null ? (FilterPredicate) one.get() : FilterApi.and(all, (FilterPredicate) one.get());
            }
        }
        return all == null ? null : FilterCompat.get(all);
    }

    private Configuration settings() {
        return ((SerializableConfiguration) this.hadoop.value()).value();
    }

    private ParquetFileReader open(HadoopInputFile file) throws IOException {
        return ParquetFileReader.open(file, HadoopReadOptions.builder(settings(), file.getPath()).build());
    }
}
