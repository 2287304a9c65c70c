package hudi;

import java.io.IOException;
import java.io.Serializable;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.HadoopReadOptions;
import org.apache.parquet.filter2.compat.FilterCompat;
import org.apache.parquet.filter2.compat.RowGroupFilter;
import org.apache.parquet.filter2.predicate.FilterApi;
import org.apache.parquet.filter2.predicate.FilterPredicate;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnPath;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.parquet.internal.filter2.columnindex.ColumnIndexFilter;
import org.apache.parquet.internal.filter2.columnindex.RowRanges;
import org.apache.parquet.schema.MessageType;
import org.apache.spark.SparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFilters;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.util.SerializableConfiguration;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

/** What footers and page indexes of Parquet files say, without reading their rows: each file is opened once. Tasks get it from the driver. */
final class Footers implements Serializable {
    private final Broadcast hadoop;
    private final Seq filters;

    /** Filters are those of a skeleton's columns; empty where none of its rows is left out. */
    Footers(SparkContext context, Configuration hadoop, Seq filters) {
        this.hadoop = SerializableConfiguration.broadcast(context, hadoop);
        this.filters = filters;
    }

    boolean isFiltered() {
        return !this.filters.isEmpty();
    }

    /** Returns the number of rows of a file. */
    long rows(Path path) throws IOException {
        ParquetFileReader reader = open(path);
        try {
            return reader.getRecordCount();
        } finally {
            reader.close();
        }
    }

    /** Returns the number of rows of a skeleton, and the first and the last of them that may pass the filters: -1 where none may. */
    long[] span(Path path) throws IOException {
        ParquetFileReader reader = open(path);
        try {
            FilterCompat.Filter filter = filter(reader.getFileMetaData().getSchema());
            if (filter == null) {
                return new long[] {reader.getRecordCount(), 0, Long.MAX_VALUE};
            }
            return span(reader, filter);
        } finally {
            reader.close();
        }
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

    private ParquetFileReader open(Path path) throws IOException {
        Configuration stated = ((SerializableConfiguration) this.hadoop.value()).value();
        return ParquetFileReader.open(HadoopInputFile.fromPath(path, stated), HadoopReadOptions.builder(stated, path).build());
    }
}
