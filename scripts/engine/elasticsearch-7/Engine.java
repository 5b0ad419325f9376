import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.Plugin;

/** Starts one real Elasticsearch 7 node from published jars: Engine HOME PORT NAME. */
public class Engine extends Node {
    Engine(org.elasticsearch.env.Environment env, List<Class<? extends Plugin>> plugins) {
        super(env, List.copyOf(plugins), true);
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
        Node node = new Engine(env, List.of(org.elasticsearch.transport.Netty4Plugin.class));
        node.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try { node.close(); } catch (Exception e) { e.printStackTrace(); }
        }));
        Thread.currentThread().join();
    }
}
