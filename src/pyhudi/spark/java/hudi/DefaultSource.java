package hudi;

import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.AnalysisContext;
import org.apache.spark.sql.catalyst.analysis.Analyzer;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.command.AlterTableAddColumnsCommand;
import org.apache.spark.sql.execution.command.AlterTableChangeColumnCommand;
import org.apache.spark.sql.execution.command.TruncateTableCommand;
import org.apache.spark.sql.execution.datasources.CreateTable;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.sources.CreatableRelationProvider;
import org.apache.spark.sql.sources.RelationProvider;
import org.apache.spark.sql.sources.SchemaRelationProvider;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractPartialFunction;

/**
 * The format `hudi` inside the JVM: Spark finds it by this class's name, and a rule of the analyzer asks Python for the plan of each table.
 *
 * <p>The source itself reads nothing. Its relation is a placeholder, which Spark may keep in its relation cache for as long as it likes; whatever
 * way a table was named, the rule puts the scan of the table's current snapshot in the placeholder's place. Spark's own Java compiler compiles this
 * file when `pyhudi.enable` first meets a JVM, hence the plain Java: raw types, no lambdas. Design: docs/design/0031-tables-inside-the-jvm.md.
 */
public class DefaultSource implements RelationProvider, SchemaRelationProvider, CreatableRelationProvider {
    private static final String NOT_ENABLED =
            "This Spark session does not speak Hudi, so it cannot read the table: call pyhudi.enable(session) in Python, and name the table again.";
    private static final String WRITES = " Write it in Python through a session that pyhudi.enable was called for.";

    /** Ids of sessions and the sessions, for Python. */
    private static final Map SESSIONS = new ConcurrentHashMap();

    /** What the analysis that a thread is in resolved so far, so that one statement sees one snapshot of a table however often it names it. */
    private static final ThreadLocal ANALYSIS = new ThreadLocal();

    /** The plans of tables that the statement which runs on a thread has to see, whatever was committed since it began. */
    private static final ThreadLocal PINNED = new ThreadLocal();

    private static volatile Resolver resolver;

    /** Python's part. */
    public interface Resolver {
        /**
         * Returns the plan that a table stands for now, or as text why there is none.
         *
         * @param session the id of the session that asks
         * @param database of a table of the catalog, empty for one that is named by its path
         * @param table its name, or the path
         * @param options what the query states beside the name, as Scala prints a map with control characters between the entries
         */
        Object plan(String session, String database, String table, String options);
    }

    /** Lets a session, and those that are made from it later on, ask Python for Hudi tables. Harmless when done before. */
    public static synchronized void install(SparkSession session, Resolver python) throws Exception {
        resolver = python;
        if (!isAmong(session.extensions().buildResolutionRules(session))) {
            session.extensions().injectResolutionRule(new NewResolution());
        }
        Analyzer analyzer = session.sessionState().analyzer();
        if (!isAmong(analyzer.extendedResolutionRules())) {
            // The session has used its analyzer, which was made without the rule.
            Field rules = rulesOf(analyzer.getClass());
            rules.setAccessible(true);
            rules.set(analyzer, analyzer.extendedResolutionRules().appended(new Resolution(session)));
        }
    }

    private static Field rulesOf(Class analyzer) throws Exception {
        try {
            return analyzer.getDeclaredField("extendedResolutionRules");
        } catch (NoSuchFieldException inherited) {
            return rulesOf(analyzer.getSuperclass());
        }
    }

    /** Lets a table stand for a plan on this thread; null ends that. */
    public static void pin(String database, String table, LogicalPlan plan) {
        if (PINNED.get() == null) {
            PINNED.set(new HashMap());
        }
        ((Map) PINNED.get()).put(name(database, table), plan);
    }

    /** Ends what was pinned on this thread. */
    public static void unpin() {
        PINNED.remove();
    }

    private static Object name(String database, String table) {
        return Arrays.asList(new String[] {database, table});
    }

    /**
     * Returns the files of a snapshot, which Python lists when it is asked.
     *
     * <p>Spark compares plans after every rule, and looks them up among what is cached. That is answered here, by the text that names the snapshot.
     */
    public static FileIndex files(FileIndex python, String text) {
        return new HudiFiles(python, text);
    }

    /** Returns the session of an id; null when it is gone. */
    public static SparkSession session(String id) {
        WeakReference known = (WeakReference) SESSIONS.get(id);
        return known == null ? null : (SparkSession) known.get();
    }

    private static boolean isAmong(Seq rules) {
        for (Iterator rule = rules.iterator(); rule.hasNext();) {
            if (rule.next() instanceof Resolution) {
                return true;
            }
        }
        return false;
    }

    private static boolean isHudi(CatalogTable table) {
        String provider = table.provider().isDefined() ? ((String) table.provider().get()).toLowerCase() : "";
        return provider.equals("hudi") || provider.equals("org.apache.hudi");
    }

    @Override
    public BaseRelation createRelation(SQLContext context, scala.collection.immutable.Map parameters) {
        return createRelation(context, parameters, new StructType());
    }

    /** A file relation, since Spark copies those with the options of each query, and keeps any other with those of the first. */
    @Override
    public BaseRelation createRelation(SQLContext context, scala.collection.immutable.Map parameters, StructType schema) {
        return new HadoopFsRelation(
                new Placeholder(), new StructType(), schema, Option.empty(), new ParquetFileFormat(), parameters, context.sparkSession());
    }

    @Override
    public BaseRelation createRelation(SQLContext context, SaveMode mode, scala.collection.immutable.Map parameters, Dataset rows) {
        throw new Refused("A Hudi table cannot be written by the JVM's own DataFrameWriter." + WRITES);
    }

    /** An error for the user; Python raises it, or the error that its text carries, as one of pyhudi's. */
    public static final class Refused extends RuntimeException {
        Refused(String message) {
            super(message);
        }
    }

    /** Makes the rule of a session; Spark calls it while it builds the session's analyzer. */
    static final class NewResolution extends AbstractFunction1 {
        public Object apply(Object session) {
            return new Resolution((SparkSession) session);
        }
    }

    /** Puts the current scan in the place of each Hudi table, and refuses commands that would take one for a folder of files. */
    static final class Resolution extends Rule {
        private final SparkSession session;

        Resolution(SparkSession session) {
            this.session = session;
            SESSIONS.put(session.sessionUUID(), new WeakReference(session));
        }

        public TreeNode apply(TreeNode plan) {
            return ((LogicalPlan) plan).resolveOperatorsUp(new Replacement(this.session));
        }
    }

    static final class Replacement extends AbstractPartialFunction {
        private final SparkSession session;

        Replacement(SparkSession session) {
            this.session = session;
        }

        public boolean isDefinedAt(Object plan) {
            refuse(plan);
            return plan instanceof LogicalRelation && isTable((LogicalRelation) plan);
        }

        public Object applyOrElse(Object plan, Function1 otherwise) {
            return isDefinedAt(plan) ? scan((LogicalRelation) plan) : otherwise.apply(plan);
        }

        /** Tells whether a relation is a Hudi table: ours, or what Apache Hudi makes of an entry when it is in the JVM as well. */
        private static boolean isTable(LogicalRelation found) {
            return isPlaceholder(found) || (found.catalogTable().isDefined() && isHudi((CatalogTable) found.catalogTable().get()));
        }

        private static boolean isPlaceholder(LogicalRelation found) {
            return found.relation() instanceof HadoopFsRelation && ((HadoopFsRelation) found.relation()).location() instanceof Placeholder;
        }

        private Object scan(LogicalRelation found) {
            Map stated = new HashMap(isPlaceholder(found) ? CollectionConverters.asJava(((HadoopFsRelation) found.relation()).options()) : new HashMap());
            String path = (String) stated.remove("path");
            String database = "";
            String table = path;
            if (found.catalogTable().isDefined()) {
                CatalogTable entry = (CatalogTable) found.catalogTable().get();
                stated.entrySet().removeAll(CollectionConverters.asJava(entry.storage().properties()).entrySet());
                database = entry.database();
                table = entry.identifier().table();
            }
            Object pinned = stated.isEmpty() && PINNED.get() != null ? ((Map) PINNED.get()).get(name(database, table)) : null;
            return pinned != null ? pinned : planOf(database, table, CollectionConverters.asScala(stated).mkString("\u0001"));
        }

        private LogicalPlan planOf(String database, String table, String options) {
            Object analysis = AnalysisContext.get().relationCache();
            Object[] known = (Object[]) ANALYSIS.get();
            if (known == null || ((WeakReference) known[0]).get() != analysis) {
                known = new Object[] {new WeakReference(analysis), new HashMap()};
            }
            Object key = Arrays.asList(new String[] {database, table, options});
            Object plan = ((Map) known[1]).get(key);
            if (plan == null) {
                plan = resolver.plan(this.session.sessionUUID(), database, table, options);
                if (plan instanceof String) {
                    throw new Refused((String) plan);
                }
                ((Map) known[1]).put(key, plan);
            }
            ANALYSIS.set(known); // only now: Python may have analyzed other plans on this thread
            return (LogicalPlan) plan;
        }

        private void refuse(Object plan) {
            if (plan instanceof InsertIntoStatement) {
                LogicalPlan into = ((InsertIntoStatement) plan).table();
                if (into instanceof LogicalRelation && isTable((LogicalRelation) into)) {
                    throw new Refused("INSERT into a Hudi table reached Spark without passing pyhudi." + WRITES);
                }
            } else if (plan instanceof CreateTable) {
                CatalogTable made = ((CreateTable) plan).tableDesc();
                if (isHudi(made)) {
                    throw new Refused("CREATE TABLE " + made.identifier() + " USING hudi reached Spark without passing pyhudi." + WRITES);
                }
            } else if (plan instanceof TruncateTableCommand) {
                refuse(((TruncateTableCommand) plan).tableName(), "TRUNCATE TABLE");
            } else if (plan instanceof AlterTableAddColumnsCommand) {
                refuse(((AlterTableAddColumnsCommand) plan).table(), "ALTER TABLE ADD COLUMNS");
            } else if (plan instanceof AlterTableChangeColumnCommand) {
                refuse(((AlterTableChangeColumnCommand) plan).tableName(), "ALTER TABLE CHANGE COLUMN");
            }
        }

        private void refuse(TableIdentifier table, String command) {
            if (isEntry(table)) {
                throw new Refused(command + " of the Hudi table " + table + " reached Spark without passing pyhudi." + WRITES);
            }
        }

        private boolean isEntry(TableIdentifier table) {
            SessionCatalog catalog = this.session.sessionState().catalog();
            try {
                return catalog.tableExists(table) && isHudi(catalog.getTableMetadata(table));
            } catch (AnalysisException unknown) {
                return false; // the command itself says what is wrong with the name
            }
        }
    }

    static final class HudiFiles implements FileIndex {
        private final FileIndex python;
        private final String text;

        HudiFiles(FileIndex python, String text) {
            this.python = python;
            this.text = text;
        }

        public Seq rootPaths() {
            return this.python.rootPaths();
        }

        public Seq listFiles(Seq partitionFilters, Seq dataFilters) {
            return this.python.listFiles(partitionFilters, dataFilters);
        }

        public String[] inputFiles() {
            return this.python.inputFiles();
        }

        public long sizeInBytes() {
            return this.python.sizeInBytes();
        }

        public StructType partitionSchema() {
            return this.python.partitionSchema();
        }

        /** Does nothing: a snapshot stays what it is. */
        public void refresh() {}

        /** Says that no refresh can change the files (Spark 4.3 asks before it refreshes cached data). */
        public boolean isTimeTravel() {
            return true;
        }

        public String toString() {
            return this.text;
        }

        public int hashCode() {
            return this.text.hashCode();
        }

        public boolean equals(Object other) {
            return other instanceof HudiFiles && this.text.equals(((HudiFiles) other).text);
        }
    }

    /** The files of a table that no rule replaced by its scan: none, told as an error and never as an empty table. */
    static final class Placeholder implements FileIndex {
        /** Two paths, since into a relation of one path Spark would insert raw files. */
        public Seq rootPaths() {
            return CollectionConverters.asScala(Arrays.asList(new Path[] {new Path("/"), new Path("/.hoodie")})).toSeq();
        }

        public Seq listFiles(Seq partitionFilters, Seq dataFilters) {
            throw new Refused(NOT_ENABLED);
        }

        public String[] inputFiles() {
            throw new Refused(NOT_ENABLED);
        }

        public void refresh() {}

        public long sizeInBytes() {
            return Long.MAX_VALUE;
        }

        public StructType partitionSchema() {
            return new StructType();
        }
    }
}
