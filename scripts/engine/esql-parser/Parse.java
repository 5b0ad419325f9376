import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.xpack.esql.core.expression.Expression;
import org.elasticsearch.xpack.esql.core.expression.Literal;
import org.elasticsearch.xpack.esql.core.tree.Node;
import org.elasticsearch.xpack.esql.expression.function.UnresolvedFunction;
import org.elasticsearch.xpack.esql.parser.EsqlParser;
import org.elasticsearch.xpack.esql.plan.QueryPlan;
import org.elasticsearch.xpack.esql.plugin.QueryPragmas;
import org.elasticsearch.xpack.esql.session.Configuration;

/**
 * Elasticsearch's own parser of ES|QL: a text in base64 on each line of standard input, for each a line of output, "ok" and the
 * plan's shape (kinds of nodes, names of functions, types of literals; no names, no values), or "no" and why.
 */
public class Parse {
    public static void main(String[] args) throws Exception {
        LogConfigurator.configureESLogging();
        var parser = new EsqlParser();
        var conf = new Configuration(ZoneOffset.UTC, Locale.ROOT, "user", "cluster", new QueryPragmas(Settings.EMPTY), 1000, 10000, "", false,
            Map.of(), 0L, false);
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line; (line = in.readLine()) != null; ) {
            String query = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
            String said;
            try {
                said = "ok\t" + shape(parser.createStatement(query, conf));
            } catch (Exception e) {
                said = "no\t" + String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
            } catch (NoClassDefFoundError e) { // of a part that is not published
                said = "lacks\t" + e.getMessage();
            }
            System.out.println(said);
        }
    }

    static String shape(Node<?> n) {
        var b = new StringBuilder(n.nodeName());
        if (n instanceof Literal l) {
            b.append(':').append(l.dataType());
        } else if (n instanceof UnresolvedFunction f) {
            b.append(':').append(f.name());
        }
        b.append('(');
        if (n instanceof QueryPlan<?> p) {
            for (Expression e : p.expressions()) {
                b.append(shape(e));
            }
        }
        for (Node<?> c : n.children()) {
            b.append(shape(c));
        }
        return b.append(')').toString();
    }
}
