package hudi;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.JobArtifactSet;
import org.apache.spark.JobArtifactState;
import org.apache.spark.SparkContext;
import org.apache.spark.paths.SparkPath;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.execution.vectorized.ConstantColumnVector;
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.Option;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction1;

/**
 * The Parquet files of a bootstrapped table: source files in the place of their skeletons, and whole base files.
 *
 * <p>A partition column of each file names its skeleton, or is empty. The meta columns of a source file's rows are read from the skeleton in step
 * with the source, by Spark's own reader, and are columns as all others to Spark: filters on them are seen by the file index. Plain Java, as
 * `DefaultSource`; tasks of executors get the class in a jar. Design: docs/design/0184-skeletons-in-sparks-scan.md.
 */
public class SkeletonFormat extends ParquetFileFormat {
    /** The hidden partition columns: the URI of the skeleton, and the path of its partition. */
    private static final String SKELETON = "_pyhudi_skeleton";
    private static final String PARTITION = "_pyhudi_partition";

    /** The meta columns that are the same in all rows of a skeleton, as `Reader.constants` orders them, and those that are not. */
    private static final List CONSTANT = Arrays.asList(new String[] {"_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_file_name"});
    private static final List STORED = Arrays.asList(new String[] {"_hoodie_commit_seqno", "_hoodie_record_key"});

    /** Skeletons are those of this commit. */
    private static final String COMMIT_TIME = "00000000000001";

    private static File jar;

    /** Takes the bytes of this class and of those in it, by their names: tasks of executors need them. */
    public static synchronized void ship(Map codes) throws IOException {
        File made = File.createTempFile("pyhudi-", ".jar");
        made.deleteOnExit();
        JarOutputStream output = new JarOutputStream(new FileOutputStream(made));
        try {
            for (Object code : codes.entrySet()) {
                output.putNextEntry(new JarEntry(((String) ((Map.Entry) code).getKey()).replace('.', '/') + ".class"));
                output.write((byte[]) ((Map.Entry) code).getValue());
            }
        } finally {
            output.close();
        }
        jar = made;
    }

    /** Lets the executors of a session fetch the jar; those of a local master are this JVM. A session with jars of its own gets no others. */
    private static synchronized void addTo(org.apache.spark.sql.classic.SparkSession session) {
        SparkContext context = session.sparkContext();
        if (context.isLocal()) {
            return;
        }
        add(context, "default", null);
        if (context.addedJars().contains(session.sessionUUID())) {
            add(context, session.sessionUUID(), session.artifactManager().state());
        }
    }

    private static void add(final SparkContext context, String group, JobArtifactState state) {
        Option known = context.addedJars().get(group);
        if (known.isDefined()) {
            for (Iterator added = ((scala.collection.Map) known.get()).keysIterator(); added.hasNext();) {
                if (((String) added.next()).endsWith("/" + jar.getName())) {
                    return;
                }
            }
        }
        JobArtifactSet.withActiveJobArtifactState(state, new Addition(context, jar.getAbsolutePath()));
    }

    @Override
    public Function1 buildReaderWithPartitionValues(
            SparkSession session,
            StructType data,
            StructType partitions,
            StructType required,
            Seq filters,
            scala.collection.immutable.Map options,
            Configuration hadoop) {
        Function1 whole = super.buildReaderWithPartitionValues(session, data, partitions, required, filters, options, new Configuration(hadoop));
        StructType stored = fields(required, STORED, true);
        StructType source = fields(fields(required, STORED, false), CONSTANT, false);
        if (source.length() == required.length()) {
            return whole; // no meta column is asked for, so that source files are read as any others
        }
        addTo((org.apache.spark.sql.classic.SparkSession) session);
        String rowIndex = ParquetFileFormat.ROW_INDEX_TEMPORARY_COLUMN_NAME();
        if (stored.length() > 0 && !Arrays.asList(source.fieldNames()).contains(rowIndex)) {
            source = source.add(rowIndex, DataTypes.LongType);
        }
        StructType nothing = new StructType();
        Seq ofSource = filters(filters, Arrays.asList(source.fieldNames()));
        Seq ofSkeleton = filters(filters, STORED);
        Reader reader = new Reader();
        reader.whole = whole;
        reader.source = super.buildReaderWithPartitionValues(session, data, partitions, source, ofSource, options, new Configuration(hadoop));
        if (stored.length() > 0) {
            Seq none = filters(filters, new ArrayList());
            reader.skeleton = super.buildReaderWithPartitionValues(session, data, nothing, stored, none, options, new Configuration(hadoop));
            reader.counter = super.buildReaderWithPartitionValues(session, data, nothing, nothing, none, options, new Configuration(hadoop));
        }
        if (!ofSkeleton.isEmpty()) {
            // With the columns: pages of a column that is not read count as pages of nulls.
            reader.matches = super.buildReaderWithPartitionValues(session, data, nothing, stored, ofSkeleton, options, new Configuration(hadoop));
        }
        reader.filtersSource = !ofSource.isEmpty();
        reader.plan(source, stored, required, partitions, rowIndex);
        return reader;
    }

    /** Meta columns have vectors of any kind: constants of a skeleton, and what was read of it or of a whole file. */
    @Override
    public Option vectorTypes(StructType required, StructType partitions, SQLConf conf) {
        Option known = super.vectorTypes(required, partitions, conf);
        if (known.isEmpty()) {
            return known;
        }
        List types = new ArrayList(CollectionConverters.asJava((Seq) known.get()));
        String[] names = required.fieldNames();
        for (int i = 0; i < names.length; i++) {
            if (STORED.contains(names[i]) || CONSTANT.contains(names[i])) {
                types.set(i, ColumnVector.class.getName());
            }
        }
        return Option.apply(CollectionConverters.asScala(types).toSeq());
    }

    /** Returns the fields whose names are among some, or are not. */
    private static StructType fields(StructType schema, List names, boolean among) {
        List left = new ArrayList();
        for (int i = 0; i < schema.length(); i++) {
            if (names.contains(schema.fields()[i].name()) == among) {
                left.add(schema.fields()[i]);
            }
        }
        return new StructType((StructField[]) left.toArray(new StructField[0]));
    }

    /** Returns the filters that concern no other columns than some; those of nested columns are left out. */
    private static Seq filters(Seq filters, List columns) {
        List left = new ArrayList();
        for (Iterator all = filters.iterator(); all.hasNext();) {
            Filter one = (Filter) all.next();
            if (columns.containsAll(Arrays.asList(one.references()))) {
                left.add(one);
            }
        }
        return CollectionConverters.asScala(left).toSeq();
    }

    /** A skeleton that does not fit its source, or cannot be read: `file` is its URI, and the cause says why, or nothing does but the message. */
    public static final class Failed extends RuntimeException {
        private final String file;

        Failed(String file, String message, Throwable cause) {
            super(message, cause);
            this.file = file;
        }

        /** Returns the URI of the skeleton. */
        public String file() {
            return this.file;
        }
    }

    static final class Addition extends AbstractFunction0 {
        private final SparkContext context;
        private final String path;

        Addition(SparkContext context, String path) {
            this.context = context;
            this.path = path;
        }

        public Object apply() {
            this.context.addJar(this.path);
            return null;
        }
    }

    /** Reads a file inside a task: a source with its skeleton, or a whole base file. */
    static final class Reader extends AbstractFunction1 implements Serializable {
        /** Where a column of the result comes from. */
        static final int OF_SOURCE = 0;
        static final int CONSTANT_ONE = 1;
        static final int STORED_ONE = 2;

        Function1 whole;
        Function1 source;
        Function1 skeleton; // null when only constants are asked for
        Function1 counter;
        Function1 matches; // null without filters on columns of the skeleton
        boolean filtersSource;
        int skeletonAt;
        int partitionAt;
        int rowIndexAt;
        int sourceWidth;
        int storedWidth;
        int[] kinds;
        int[] places;
        DataType[] types;

        /** Says where each column of the result is found. */
        void plan(StructType ofSource, StructType stored, StructType required, StructType partitions, String rowIndex) {
            this.skeletonAt = partitions.fieldIndex(SKELETON);
            this.partitionAt = partitions.fieldIndex(PARTITION);
            List names = Arrays.asList(ofSource.fieldNames());
            this.rowIndexAt = names.indexOf(rowIndex);
            this.sourceWidth = names.size() + partitions.length();
            this.storedWidth = stored.length();
            int width = required.length() + partitions.length();
            this.kinds = new int[width];
            this.places = new int[width];
            this.types = new DataType[width];
            for (int i = 0; i < width; i++) {
                if (i >= required.length()) {
                    this.places[i] = names.size() + i - required.length();
                    this.types[i] = partitions.fields()[i - required.length()].dataType();
                    continue;
                }
                String name = required.fields()[i].name();
                this.types[i] = required.fields()[i].dataType();
                this.kinds[i] = STORED.contains(name) ? STORED_ONE : CONSTANT.contains(name) ? CONSTANT_ONE : OF_SOURCE;
                List where = this.kinds[i] == STORED_ONE ? Arrays.asList(stored.fieldNames()) : this.kinds[i] == CONSTANT_ONE ? CONSTANT : names;
                this.places[i] = where.indexOf(name);
            }
        }

        public Object apply(Object given) {
            PartitionedFile file = (PartitionedFile) given;
            String name = file.partitionValues().getUTF8String(this.skeletonAt).toString();
            return name.isEmpty() ? this.whole.apply(file) : read(file, name);
        }

        private Object read(PartitionedFile file, String name) {
            Skeleton rows = null;
            if (this.matches != null || this.skeleton != null) {
                rows = open(file, name);
                if (rows == null) {
                    return scala.collection.Iterator$.MODULE$.empty();
                }
            }
            UTF8String[] constants = new UTF8String[] {
                UTF8String.fromString(COMMIT_TIME),
                file.partitionValues().getUTF8String(this.partitionAt).clone(),
                UTF8String.fromString(name.substring(name.lastIndexOf('/') + 1)),
            };
            boolean seesAll = !this.filtersSource && file.start() == 0 && file.length() == file.fileSize();
            if (this.skeleton != null && !seesAll && count(whole(file.filePath())) != rows.counted(this.counter)) {
                throw rows.unequal(null);
            }
            return new Rows(this, (Iterator) this.source.apply(file), this.skeleton == null ? null : rows, constants, seesAll);
        }

        /** Returns the skeleton's rows; null when its statistics say that none passes the filters. */
        private Skeleton open(PartitionedFile file, String name) {
            PartitionedFile skeleton = whole(SparkPath.fromPath(new Path(name)));
            try {
                if (this.matches != null && !((Iterator) this.matches.apply(skeleton)).hasNext()) {
                    return null;
                }
                Iterator batches = this.skeleton == null ? null : (Iterator) this.skeleton.apply(skeleton);
                return new Skeleton(name, file.filePath().toString(), skeleton, batches);
            } catch (Exception error) {
                throw new Failed(name, error.getMessage(), error);
            }
        }

        private long count(PartitionedFile file) {
            return Skeleton.rowsOf((Iterator) this.counter.apply(file));
        }

        private static PartitionedFile whole(SparkPath path) {
            return new PartitionedFile(
                    InternalRow.empty(), path, 0L, Long.MAX_VALUE, new String[0], 0L, 0L, scala.collection.immutable.Map$.MODULE$.empty());
        }
    }

    /** The stored columns of a skeleton, read once from the first row to the last. */
    static final class Skeleton {
        private final String name;
        private final String sourceName;
        private final PartitionedFile file;
        private final Iterator read;
        private ColumnarBatch batch; // null where Spark's reader gives rows
        private InternalRow row;
        private long from;
        private long held;
        private OnHeapColumnVector[] copies;

        Skeleton(String name, String sourceName, PartitionedFile file, Iterator read) {
            this.name = name;
            this.sourceName = sourceName;
            this.file = file;
            this.read = read;
        }

        static long rowsOf(Iterator read) {
            long rows = 0;
            while (read.hasNext()) {
                Object next = read.next();
                rows += next instanceof ColumnarBatch ? ((ColumnarBatch) next).numRows() : 1;
            }
            return rows;
        }

        long counted(Function1 counter) {
            try {
                return rowsOf((Iterator) counter.apply(this.file));
            } catch (Exception error) {
                throw new Failed(this.name, error.getMessage(), error);
            }
        }

        Failed unequal(Throwable cause) {
            String what = "Base file " + this.name + " has another number of rows than its source file " + this.sourceName;
            return new Failed(this.name, what, cause);
        }

        /** Reads on to a row that is not before the last one asked for. */
        void seek(long wanted) {
            while (wanted >= this.from + this.held) {
                if (!advance()) {
                    throw unequal(null);
                }
            }
        }

        private boolean advance() {
            try {
                if (!this.read.hasNext()) {
                    return false;
                }
                Object next = this.read.next();
                this.from += this.held;
                this.batch = next instanceof ColumnarBatch ? (ColumnarBatch) next : null;
                this.row = this.batch == null ? (InternalRow) next : null;
                this.held = this.batch == null ? 1 : this.batch.numRows();
                return true;
            } catch (Exception error) {
                throw new Failed(this.name, error.getMessage(), error);
            }
        }

        /** Returns a value of the row that was sought, which may be gone once another one is; null where the file has none. */
        UTF8String value(int column, long wanted) {
            if (this.batch == null) {
                return this.row.isNullAt(column) ? null : this.row.getUTF8String(column);
            }
            ColumnVector values = this.batch.column(column);
            int at = (int) (wanted - this.from);
            return values.isNullAt(at) ? null : values.getUTF8String(at);
        }

        /** Says that the source ends after so many rows. */
        void end(long rows) {
            if (this.from + this.held > rows || advance()) {
                throw unequal(null);
            }
        }

        /** Returns the columns of rows with ascending numbers: as they were read where the batch begins with the same row, else copied. */
        ColumnVector[] columns(ColumnVector numbers, int count, int width) {
            ColumnVector[] result = new ColumnVector[width];
            long first = numbers.getLong(0);
            long last = numbers.getLong(count - 1);
            seek(first);
            if (this.batch != null && first == this.from && last - first == count - 1 && last < this.from + this.held) {
                for (int i = 0; i < width; i++) {
                    result[i] = this.batch.column(i);
                }
                return result;
            }
            if (this.copies == null) {
                this.copies = new OnHeapColumnVector[width];
                for (int i = 0; i < width; i++) {
                    this.copies[i] = new OnHeapColumnVector(count, DataTypes.StringType);
                }
            }
            for (int i = 0; i < width; i++) {
                this.copies[i].reset();
                this.copies[i].reserve(count);
                result[i] = this.copies[i];
            }
            for (int at = 0; at < count; at++) {
                copy(at, numbers.getLong(at), width);
            }
            return result;
        }

        private void copy(int at, long wanted, int width) {
            seek(wanted);
            for (int i = 0; i < width; i++) {
                UTF8String text = value(i, wanted);
                if (text == null) {
                    this.copies[i].putNull(at);
                } else {
                    byte[] bytes = text.getBytes();
                    this.copies[i].putByteArray(at, bytes, 0, bytes.length);
                }
            }
        }
    }

    /** The rows of a source file with their meta columns: batches, or rows where Spark's reader gives these. */
    static final class Rows extends AbstractIterator {
        private final Reader reader;
        private final Iterator source;
        private final Skeleton skeleton; // null when only constants are asked for
        private final UTF8String[] constants;
        private final boolean seesAll;
        private long rows;
        private Object ready;
        private ConstantColumnVector[] vectors;
        private UnsafeProjection projection;

        Rows(Reader reader, Iterator source, Skeleton skeleton, UTF8String[] constants, boolean seesAll) {
            this.reader = reader;
            this.source = source;
            this.skeleton = skeleton;
            this.constants = constants;
            this.seesAll = seesAll;
        }

        /** Reads the next rows, as Spark's readers do: of errors that are raised here it says in which file they were met. */
        public boolean hasNext() {
            if (this.ready == null && this.source.hasNext()) {
                Object next = this.source.next();
                this.ready = next instanceof ColumnarBatch ? batch((ColumnarBatch) next) : row((InternalRow) next);
            }
            if (this.ready == null && this.skeleton != null && this.seesAll) {
                this.skeleton.end(this.rows);
            }
            return this.ready != null;
        }

        public Object next() {
            if (!hasNext()) {
                throw new java.util.NoSuchElementException();
            }
            Object next = this.ready;
            this.ready = null;
            return next;
        }

        private Object batch(ColumnarBatch batch) {
            int count = batch.numRows();
            ColumnVector[] stored = null;
            if (this.skeleton != null && count > 0) {
                ColumnVector numbers = batch.column(this.reader.rowIndexAt);
                stored = this.skeleton.columns(numbers, count, this.reader.storedWidth);
                this.rows = numbers.getLong(count - 1) + 1;
            }
            if (count == 0) {
                return new ColumnarBatch(new ColumnVector[this.reader.kinds.length], 0);
            }
            ColumnVector[] columns = new ColumnVector[this.reader.kinds.length];
            for (int i = 0; i < columns.length; i++) {
                int kind = this.reader.kinds[i];
                int place = this.reader.places[i];
                columns[i] = kind == Reader.OF_SOURCE ? batch.column(place) : kind == Reader.STORED_ONE ? stored[place] : constant(place);
            }
            return new ColumnarBatch(columns, count);
        }

        private ColumnVector constant(int place) {
            if (this.vectors == null) {
                this.vectors = new ConstantColumnVector[this.constants.length];
                for (int i = 0; i < this.vectors.length; i++) {
                    this.vectors[i] = new ConstantColumnVector(1, DataTypes.StringType);
                    this.vectors[i].setUtf8String(this.constants[i]);
                }
            }
            return this.vectors[place];
        }

        private Object row(InternalRow row) {
            Object[] meta = new Object[this.constants.length + this.reader.storedWidth];
            System.arraycopy(this.constants, 0, meta, 0, this.constants.length);
            if (this.skeleton != null) {
                long number = row.getLong(this.reader.rowIndexAt);
                this.skeleton.seek(number);
                this.rows = number + 1;
                for (int i = 0; i < this.reader.storedWidth; i++) {
                    meta[this.constants.length + i] = this.skeleton.value(i, number);
                }
            }
            if (this.projection == null) {
                this.projection = projection();
            }
            return this.projection.apply(new JoinedRow(row, new GenericInternalRow(meta)));
        }

        private UnsafeProjection projection() {
            List parts = new ArrayList();
            for (int i = 0; i < this.reader.kinds.length; i++) {
                int kind = this.reader.kinds[i];
                int start = kind == Reader.OF_SOURCE ? 0 : this.reader.sourceWidth + (kind == Reader.STORED_ONE ? this.constants.length : 0);
                parts.add(new BoundReference(start + this.reader.places[i], this.reader.types[i], true));
            }
            return UnsafeProjection.create(CollectionConverters.asScala(parts).toSeq());
        }
    }
}
