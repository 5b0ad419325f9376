import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.opensearch.Version;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.PluginInfo;

/** Starts one real OpenSearch 3 node from published jars: Engine HOME PORT NAME. */
public class Engine extends Node {
    Engine(org.opensearch.env.Environment env, List<PluginInfo> plugins) {
        super(env, plugins, true);
    }

    public static void main(String[] args) throws Exception {
        Path home = Path.of(args[0]).toAbsolutePath();
        Settings settings = Settings.builder()
            .put("path.home", home.toString()).put("path.data", home.resolve("data").toString())
            .put("cluster.name", args[2]).put("node.name", args[2]).put("discovery.type", "single-node")
            .put("http.type", "netty4").put("transport.type", "netty4").put("network.host", "127.0.0.1")
            .put("http.port", args[1]).put("transport.port", "0")
            .put("cluster.routing.allocation.disk.threshold_enabled", false).build();
        var env = InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), home.resolve("config"), () -> args[2]);
        List<PluginInfo> plugins = new ArrayList<>();
        for (String c : List.of("org.opensearch.transport.Netty4ModulePlugin",
                                "org.opensearch.analysis.common.CommonAnalysisModulePlugin",
                                "org.opensearch.painless.PainlessModulePlugin")) {
            plugins.add(new PluginInfo(c, "classpath", "n/a", Version.CURRENT, "21", c, null, List.of(), false));
        }
        Node node = new Engine(env, plugins);
        node.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try { node.close(); } catch (Exception e) { e.printStackTrace(); }
        }));
        Thread.currentThread().join();
    }
}
