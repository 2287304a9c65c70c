package hudi;

import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.catalyst.analysis.Analyzer;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.sources.CreatableRelationProvider;
import org.apache.spark.sql.sources.RelationProvider;
import org.apache.spark.sql.sources.SchemaRelationProvider;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * The format `hudi` inside the JVM: Spark finds it by this class's name, and a rule of the analyzer asks Python for the plan of each table.
 *
 * <p>The source itself reads nothing. Its relation is a placeholder, which Spark may keep in its relation cache for as long as it likes; whatever
 * way a table was named, the rule puts the scan of the table's current snapshot in the placeholder's place. Spark's own Java compiler compiles these
 * files when `pyhudi.enable` first meets a JVM, hence the plain Java: raw types, no lambdas. Design: docs/design/0031-tables-inside-the-jvm.md.
 */
public class DefaultSource implements RelationProvider, SchemaRelationProvider, CreatableRelationProvider {
    static final String WRITES = " Write it in Python through a session that pyhudi.enable was called for.";

    /** Ids of sessions and the sessions, for Python. */
    private static final Map SESSIONS = new ConcurrentHashMap();

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
        ScanOfTable.pin(database, table, plan);
    }

    /** Ends what was pinned on this thread. */
    public static void unpin() {
        ScanOfTable.unpin();
    }

    static Resolver resolver() {
        return resolver;
    }

    /** Returns the files of a snapshot, which Python lists when it is asked; the text names the snapshot. */
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

    @Override
    public BaseRelation createRelation(SQLContext context, scala.collection.immutable.Map parameters) {
        return createRelation(context, parameters, new StructType());
    }

    /** A file relation, since Spark copies those with the options of each query, and keeps any other with those of the first. */
    @Override
    public BaseRelation createRelation(SQLContext context, scala.collection.immutable.Map parameters, StructType schema) {
        return new HadoopFsRelation(
                new UnresolvedFiles(), new StructType(), schema, Option.empty(), new ParquetFileFormat(), parameters, context.sparkSession());
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
            LogicalPlan scanned = ((LogicalPlan) plan).resolveOperatorsUp(new ScanOfTable(this.session));
            return scanned.resolved() ? scanned : scanned.resolveExpressions(new AliasedNames(this.session));
        }
    }
}
