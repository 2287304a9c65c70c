package hudi;

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.analysis.UnresolvedStar;
import org.apache.spark.sql.catalyst.analysis.UnresolvedStarExceptOrReplace;
import org.apache.spark.sql.classic.SparkSession;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

/**
 * Columns that a text names with the catalog of {@link CatalogAlias} in front (`hudi.db.t.col`, `hudi.db.t.*`): Spark knows the tables of that catalog
 * as those of `spark_catalog`, so their columns have that name. Names that mean something else are resolved before, and never come this far.
 */
final class AliasedNames extends AbstractPartialFunction {
    private static final int CATALOG_DATABASE_TABLE = 3;

    private final SparkSession session;

    AliasedNames(SparkSession session) {
        this.session = session;
    }

    public boolean isDefinedAt(Object expression) {
        if (expression instanceof UnresolvedAttribute) {
            Seq names = ((UnresolvedAttribute) expression).nameParts();
            return names.size() > CATALOG_DATABASE_TABLE && isAlias(names);
        }
        Option target = targetOf(expression);
        return target.isDefined() && ((Seq) target.get()).size() >= CATALOG_DATABASE_TABLE && isAlias((Seq) target.get());
    }

    public Object applyOrElse(Object expression, Function1 otherwise) {
        if (!isDefinedAt(expression)) {
            return otherwise.apply(expression);
        }
        if (expression instanceof UnresolvedAttribute) {
            return new UnresolvedAttribute(inSessionCatalog(((UnresolvedAttribute) expression).nameParts()));
        }
        Option target = Option.apply(inSessionCatalog((Seq) targetOf(expression).get()));
        if (expression instanceof UnresolvedStar) {
            return new UnresolvedStar(target);
        }
        UnresolvedStarExceptOrReplace star = (UnresolvedStarExceptOrReplace) expression;
        return new UnresolvedStarExceptOrReplace(target, star.excepts(), star.replacements());
    }

    /** Returns what stands in front of a star, if the expression is one. */
    private static Option targetOf(Object expression) {
        if (expression instanceof UnresolvedStar) {
            return ((UnresolvedStar) expression).target();
        }
        return expression instanceof UnresolvedStarExceptOrReplace ? ((UnresolvedStarExceptOrReplace) expression).target() : Option.empty();
    }

    private boolean isAlias(Seq names) {
        String catalog = this.session.sessionState().conf().getConfString("spark.sql.catalog." + names.head(), "");
        return catalog.equals("hudi.CatalogAlias");
    }

    private static Seq inSessionCatalog(Seq names) {
        return (Seq) ((Seq) names.tail()).prepended("spark_catalog");
    }
}
