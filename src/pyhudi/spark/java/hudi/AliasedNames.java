package hudi;

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.classic.SparkSession;
import scala.Function1;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

/**
 * Columns that a text names with the catalog of {@link CatalogAlias} in front (`hudi.db.t.col`): Spark knows the tables of that catalog as those of
 * `spark_catalog`, so their columns have that name. Names that mean something else are resolved before, and never come this far.
 */
final class AliasedNames extends AbstractPartialFunction {
    private static final int CATALOG_DATABASE_TABLE_COLUMN = 4;

    private final SparkSession session;

    AliasedNames(SparkSession session) {
        this.session = session;
    }

    public boolean isDefinedAt(Object expression) {
        if (!(expression instanceof UnresolvedAttribute)) {
            return false;
        }
        Seq names = ((UnresolvedAttribute) expression).nameParts();
        if (names.size() < CATALOG_DATABASE_TABLE_COLUMN) {
            return false;
        }
        String catalog = this.session.sessionState().conf().getConfString("spark.sql.catalog." + names.head(), "");
        return catalog.equals("hudi.CatalogAlias");
    }

    public Object applyOrElse(Object expression, Function1 otherwise) {
        if (!isDefinedAt(expression)) {
            return otherwise.apply(expression);
        }
        Seq names = ((UnresolvedAttribute) expression).nameParts();
        return new UnresolvedAttribute((Seq) ((Seq) names.tail()).prepended("spark_catalog"));
    }
}
